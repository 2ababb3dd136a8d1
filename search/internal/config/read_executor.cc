// hyperopt.executor: limits, retries, times.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>

#include "search/internal/config/known_keys.h"
#include "search/internal/config/readers.h"

namespace hyperopt::internal {
namespace {

constexpr int64_t kMostCount = int64_t{1} << 31;

struct Signal {
  std::string_view name;
  int number;
};
// Signals that ask a program to end and that it can answer.
constexpr std::array kSignals = {Signal{"TERM", SIGTERM},
                                 Signal{"INT", SIGINT},
                                 Signal{"HUP", SIGHUP},
                                 Signal{"QUIT", SIGQUIT},
                                 Signal{"USR1", SIGUSR1},
                                 Signal{"USR2", SIGUSR2},
                                 Signal{"ALRM", SIGALRM}};

void ReadStopSignal(Section& executor, ExecutorOptions& options) {
  const Value* value = executor.Take("stop_signal");
  if (value == nullptr) return;
  std::string_view name = value->text;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  const auto number = AsInt(*value);
  for (const Signal& signal : kSignals) {
    if (name != signal.name && number != signal.number) continue;
    options.stop_signal = signal.number;
    return;
  }
  std::vector<std::string_view> names;
  for (const Signal& signal : kSignals) names.push_back(signal.name);
  executor.Fail(
      "stop_signal",
      fmt::format("must be one of {} (SIGKILL follows stop_grace_s later), not "
                  "{}",
                  fmt::join(names, ", "),
                  Describe(*value)));
}

// A number for both kinds of failure, or a map of each.
void ReadMaxFailures(Section& executor, Reading& reading) {
  ExecutorOptions& options = reading.config.executor;
  const Value* value = executor.Take("max_failures");
  if (value == nullptr) return;
  if (!value->is_map()) {
    const auto both = executor.Int("max_failures", 0, INT32_MAX);
    if (!both) return;
    options.max_failures_exit = static_cast<int32_t>(*both);
    options.max_failures_crash = static_cast<int32_t>(*both);
    return;
  }
  Section kinds(value, executor.PathOf("max_failures"), reading.problems);
  options.max_failures_exit = static_cast<int32_t>(
      kinds.Int("exit", 0, INT32_MAX).value_or(options.max_failures_exit));
  options.max_failures_crash = static_cast<int32_t>(
      kinds.Int("crash", 0, INT32_MAX).value_or(options.max_failures_crash));
  kinds.Finish();
}

void ReadLimits(Section& executor, Reading& reading) {
  ExecutorOptions& options = reading.config.executor;
  if (const auto samples = executor.Int("num_samples", 1, kMostCount)) {
    options.num_samples = *samples;
  }
  options.time_budget_s = executor.Seconds("time_budget_s");
  if (!executor.Has("time_budget_s") && !reading.has_command) {
    reading.problems.Note(
        "hyperopt.executor.time_budget_s is absent: no limit (Ludwig: 3600)");
  }
  const Value* concurrent = executor.Take("max_concurrent_trials");
  if (concurrent != nullptr && concurrent->text != "auto") {
    options.max_concurrent_trials =
        executor.Int("max_concurrent_trials", 1, kMostCount);
  }
  options.trial_wall_s = executor.Seconds("max_seconds_per_trial");
  ReadMaxFailures(executor, reading);
  options.max_lost = static_cast<int32_t>(
      executor.Int("max_lost", 0, INT32_MAX).value_or(options.max_lost));
  options.max_initial_failures =
      static_cast<int32_t>(executor.Int("max_initial_failures", 0, INT32_MAX)
                               .value_or(options.max_initial_failures));
}

void ReadTimes(Section& executor, ExecutorOptions& options) {
  // No grace at all is a choice; the other times must pass.
  options.stop_grace_s =
      executor.Number("stop_grace_s", 0, 1e9).value_or(options.stop_grace_s);
  options.heartbeat_s = executor.Seconds("heartbeat_s").value_or(options.heartbeat_s);
  options.controller_lost_s =
      executor.Seconds("controller_lost_s").value_or(options.controller_lost_s);
  options.reassign_after_s =
      executor.Seconds("reassign_after_s").value_or(options.reassign_after_s);
  options.store_wait_s =
      executor.Seconds("store_wait_s").value_or(options.store_wait_s);
  options.stuck_s = executor.Seconds("stuck_s").value_or(options.stuck_s);
  for (const auto& [key, seconds] :
       {std::pair{"controller_lost_s", options.controller_lost_s},
        std::pair{"reassign_after_s", options.reassign_after_s},
        std::pair{"stuck_s", options.stuck_s}}) {
    if (seconds >= 3 * options.heartbeat_s) continue;
    executor.Fail(key,
                  fmt::format("is {} s and must be at least three heartbeats "
                              "(heartbeat_s: {})",
                              seconds,
                              options.heartbeat_s));
  }
}

void ReadType(Section& executor) {
  const Value* type = executor.Take("type");
  if (type == nullptr || type->text == "ray" || type->text == "local") return;
  if (type->text == "serial" || type->text == "parallel" || type->text == "fiber") {
    executor.Fail(
        "type",
        fmt::format("{} is of Ludwig 0.4 and before; leave `type` out and write "
                    "max_concurrent_trials: {}",
                    type->text,
                    type->text == "serial" ? "1" : "N"));
    return;
  }
  if (type->text == "optuna") {
    executor.Fail("type",
                  "optuna is not available in this version; leave `type` out and use "
                  "search_alg: {type: random}");
    return;
  }
  executor.Choice("type", {"ray", "local"});
}

// Keys that Ludwig's other executors had.
void RefuseOthersKeys(Section& executor) {
  for (const char* key : {"num_workers", "num_processes", "num_cpus_per_worker"}) {
    executor.Refuse(key,
                    "a spelling of Ludwig 0.4 and before; write "
                    "hyperopt.executor.max_concurrent_trials (trials at a time), or "
                    "backend.trainer.num_workers (ranks of one trial)");
  }
  executor.Refuse("sampler",
                  "how trials are chosen is hyperopt.search_alg: {type: random}");
  executor.Refuse(
      "pruner",
      "which trials are stopped is hyperopt.executor.scheduler: {type: asha}");
  executor.Refuse("storage",
                  "every sweep is recorded in its own folder (--output); leave it out");
  executor.Refuse("study_name", "the sweep's name is `name:` at the top level");
}

void NoteUselessKeys(Section& executor, Reading& reading) {
  for (const char* key : {"trial_driver_resources", "kubernetes_namespace"}) {
    if (!executor.Has(key)) continue;
    reading.problems.Note(fmt::format("{} has no use here", executor.PathOf(key)));
  }
}

}  // namespace

void ReadExecutor(Section& hyperopt, Section& top, Reading& reading) {
  Section executor(hyperopt.Take("executor"), "hyperopt.executor", reading.problems);
  ExecutorOptions& options = reading.config.executor;
  ReadType(executor);
  ReadLimits(executor, reading);
  ReadTimes(executor, options);
  ReadStopSignal(executor, options);
  options.log_limit =
      executor.Size("log_limit", int64_t{4} << 10).value_or(options.log_limit);
  ReadResources(executor, top, reading);
  ReadScheduler(executor, reading);
  RefuseOthersKeys(executor);
  NoteUselessKeys(executor, reading);
  executor.Finish();
}

}  // namespace hyperopt::internal

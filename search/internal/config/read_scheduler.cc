// hyperopt.executor.scheduler: which trials are stopped early.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "search/internal/config/known_keys.h"
#include "search/internal/config/readers.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

constexpr int64_t kMostTime = int64_t{1} << 53;

const std::vector<std::string>& LaterTypes() {
  static const std::vector<std::string> types = {"hyperband",
                                                 "hb_bohb",
                                                 "median_stopping_rule",
                                                 "medianstoppingrule",
                                                 "pbt_replay",
                                                 "pb2",
                                                 "resource_changing"};
  return types;
}

bool IsAsha(std::string_view type) {
  return type == "asha" || type == "async_hyperband" || type == "asynchyperband";
}

// nullopt where the type is none of this version's, which is told.
std::optional<SchedulerKind> ReadType(Section& scheduler) {
  if (!scheduler.Has("type")) return SchedulerKind::kFifo;
  const auto type = scheduler.Text("type");
  if (!type) return std::nullopt;
  if (*type == "fifo") return SchedulerKind::kFifo;
  if (IsAsha(*type)) return SchedulerKind::kAsha;
  if (*type == "pbt") return SchedulerKind::kPbt;
  if (std::ranges::find(LaterTypes(), *type) != LaterTypes().end()) {
    scheduler.Fail(
        "type", fmt::format("{} is {}; use asha, pbt or fifo", *type, kLaterVersion));
    return std::nullopt;
  }
  std::vector<std::string> known = {"fifo", "asha", "async_hyperband", "pbt"};
  known.insert(known.end(), LaterTypes().begin(), LaterTypes().end());
  const auto near = NearestName(*type, known);
  scheduler.Fail(
      "type",
      near ? fmt::format("no such type: {}; did you mean {}?", *type, *near)
           : fmt::format("no such type: {}; there are asha, pbt and fifo", *type));
  return std::nullopt;
}

// Ray's `mode` is the direction, ours the form of ASHA.
void ReadMode(Section& scheduler, SchedulerOptions& options) {
  const Value* mode = scheduler.Take("mode");
  if (mode == nullptr) return;
  if (mode->text == "min" || mode->text == "max") {
    scheduler.Fail("mode", "the direction is hyperopt.goal; leave mode out");
  } else {
    options.promotion =
        scheduler.Choice("mode", {"stopping", "promotion"}) == "promotion";
  }
}

void ReadTimeAttr(Section& scheduler, Reading& reading) {
  const auto time_attr = scheduler.Text("time_attr");
  if (!time_attr) return;
  reading.config.scheduler.time_attr = *time_attr;
  constexpr std::array<std::string_view, 3> kNeverReported = {
      "timesteps_total", "mean_accuracy", "mean_loss"};
  const bool unknown =
      std::ranges::find(kNeverReported, *time_attr) != kNeverReported.end();
  if (unknown && !reading.has_command) {
    scheduler.Fail("time_attr",
                   fmt::format("the built-in trainer never reports {}; use "
                               "training_iteration",
                               *time_attr));
  }
}

void ReadAsha(Section& scheduler, Reading& reading) {
  SchedulerOptions& options = reading.config.scheduler;
  ReadMode(scheduler, options);
  ReadTimeAttr(scheduler, reading);
  options.max_t = scheduler.Int("max_t", 1, kMostTime).value_or(options.max_t);
  options.grace_period =
      scheduler.Int("grace_period", 1, kMostTime).value_or(options.grace_period);
  options.reduction_factor = scheduler.Int("reduction_factor", 2, kMostTime)
                                 .value_or(options.reduction_factor);
  options.brackets = scheduler.Int("brackets", 1, 64).value_or(options.brackets);
  scheduler.Bool("stop_last_trials");
  if (options.grace_period > options.max_t) {
    scheduler.Fail(
        "grace_period",
        fmt::format("is {}, beyond max_t ({}): no trial would ever be stopped",
                    options.grace_period,
                    options.max_t));
    return;
  }
  int64_t level = options.grace_period;
  int64_t most = 1;
  while (!__builtin_mul_overflow(level, options.reduction_factor, &level) &&
         level <= options.max_t) {
    ++most;
  }
  if (options.brackets > most) {
    scheduler.Fail(
        "brackets",
        fmt::format("is {}, and only {} fit between grace_period {} and max_t "
                    "{}",
                    options.brackets,
                    most,
                    options.grace_period,
                    options.max_t));
  }
}

// The built-in trainer takes its budget in epochs, and reports once an epoch.
void RefuseBudgetInSeconds(Section& scheduler, const Reading& reading) {
  const SchedulerOptions& options = reading.config.scheduler;
  const bool pieces = options.promotion || options.kind == SchedulerKind::kPbt;
  const bool counts =
      options.time_attr == "training_iteration" || options.time_attr == "epoch";
  if (!pieces || counts || reading.has_command) return;
  scheduler.Fail("time_attr",
                 fmt::format("the built-in trainer runs to a budget of epochs, not of "
                             "{}; use training_iteration",
                             options.time_attr));
}

// What only a scheduler that stops trials reads.
void RefuseForFifo(Section& scheduler) {
  for (const char* key : {"max_t",
                          "grace_period",
                          "reduction_factor",
                          "brackets",
                          "stop_last_trials",
                          "mode"}) {
    scheduler.Refuse(key, "has no effect with type fifo; write type: asha");
  }
  // Ludwig lets it stand beside fifo, where it means nothing and misleads nobody.
  scheduler.Ignore("time_attr");
}

}  // namespace

void ReadScheduler(Section& executor, Reading& reading) {
  const Value* value = executor.Take("scheduler");
  if (value != nullptr && value->is_string()) {
    executor.Fail("scheduler", fmt::format("must be a map: {{type: {}}}", value->text));
    return;
  }
  Section scheduler(value, executor.PathOf("scheduler"), reading.problems);
  const auto kind = ReadType(scheduler);
  if (!kind) return;
  reading.config.scheduler.kind = *kind;
  scheduler.Refuse("metric", "the metric is hyperopt.metric; leave it out");
  if (*kind == SchedulerKind::kAsha) {
    ReadAsha(scheduler, reading);
    RefuseBudgetInSeconds(scheduler, reading);
  } else if (*kind == SchedulerKind::kPbt) {
    ReadTimeAttr(scheduler, reading);
    ReadPbt(scheduler, reading);
    RefuseBudgetInSeconds(scheduler, reading);
  } else {
    RefuseForFifo(scheduler);
  }
  scheduler.Finish();
}

}  // namespace hyperopt::internal

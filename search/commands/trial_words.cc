#include "search/commands/trial_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "search/format.h"
#include "search/outcome.h"
#include "search/schedule_text.h"
#include "search/scheduler.h"

namespace hyperopt {
namespace {

// Where a run was, as "on vm" or "on gpu-1 (node7)".
std::string PlaceText(const RunRow& run, const std::optional<ExecutorRow>& executor) {
  if (executor && !executor->embedded) {
    return fmt::format("on {} ({})", executor->name, run.host);
  }
  return "on " + run.host;
}

// How a run ended, without the codes and signals of ends that were asked for.
std::string EndText(const RunRow& run, const TrialRow& trial) {
  const std::string after =
      run.started > 0 ? " after " + DurationText(run.ended - run.started) : "";
  if (run.outcome == "stopped") {
    const bool to_the_end = Completes(trial.reason) && trial.attempt == run.key.attempt;
    return (to_the_end ? "ended " + CompleteText(trial.reason) : "stopped") + after;
  }
  if (run.outcome == "exit" && run.exit_code) {
    return fmt::format("ended{} with exit code {}", after, *run.exit_code);
  }
  if (run.outcome == "signal" && run.signal) {
    return fmt::format("ended{} by signal {}", after, *run.signal);
  }
  return run.outcome + (run.outcome == "not started" ? "" : after);
}

}  // namespace

std::string RunLine(const RunRow& run,
                    const TrialRow& trial,
                    const std::optional<ExecutorRow>& executor) {
  std::string line =
      fmt::format("attempt {}: {}", run.key.attempt.value(), PlaceText(run, executor));
  if (!run.devices.empty())
    line += fmt::format(", GPUs {}", fmt::join(run.devices, ","));
  if (!run.resume_from.empty()) line += ", from " + run.resume_from;
  const bool waits = trial.state == TrialState::kPending &&
                     trial.attempt == run.key.attempt && run.ended == 0;
  if (waits) return line + ", stands by until a place is free";
  return line + (run.ended == 0 ? ", not ended" : ", " + EndText(run, trial));
}

std::string RungLine(const RungRow& rung, const SchedulerOptions& scheduler) {
  const auto [rule, bracket] = RuleOfBracket(scheduler, rung.bracket);
  if (rule.kind != SchedulerKind::kAsha && rule.kind != SchedulerKind::kFifo &&
      rule.kind != SchedulerKind::kPbt) {
    const std::string text = RuleText(rule);
    return fmt::format("{}: ended at {} with {}",
                       text.substr(0, text.find(':')),
                       rung.time,
                       NumberText(rung.value));
  }
  if (rung.value.missing()) {
    return fmt::format("rung {} (at {}): failed before it, counts as the worst",
                       rung.rung,
                       rung.level);
  }
  return fmt::format("rung {} (at {}{}): {} at {}, {}{}",
                     rung.rung,
                     rung.level,
                     bracket > 0 ? fmt::format(", bracket {}", bracket) : "",
                     NumberText(rung.value),
                     rung.time,
                     rung.stopped         ? "stopped"
                     : scheduler.pieces() ? "reached"
                                          : "went on",
                     rung.late ? "; passed over, counts for nobody" : "");
}

}  // namespace hyperopt

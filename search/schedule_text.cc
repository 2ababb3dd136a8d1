#include "search/schedule_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "search/scheduler.h"

namespace hyperopt {
namespace {

std::string FromText(const SchedulerOptions& rule) {
  return rule.grace_period > 1 ? fmt::format(", from {} on", rule.grace_period) : "";
}

std::vector<std::pair<std::string, std::string>> RungLines(
    const SchedulerOptions& rule) {
  std::vector<std::pair<std::string, std::string>> lines;
  const size_t brackets = BracketWeights(rule).size();
  for (size_t bracket = 0; bracket < brackets; ++bracket) {
    const std::vector<int64_t> levels = RungLevels(rule, static_cast<int>(bracket));
    lines.emplace_back(brackets == 1 ? "rungs" : fmt::format("bracket {}", bracket),
                       levels.empty() ? "none: to the end"
                                      : fmt::format("{}", fmt::join(levels, ", ")));
  }
  return lines;
}

}  // namespace

std::string RuleText(const SchedulerOptions& rule) {
  switch (rule.kind) {
    case SchedulerKind::kAsha:
      return fmt::format(
          "asha: {} 1/{} {}, {} is the end",
          rule.promotion ? "trials wait at each rung, and the best" : "the best",
          rule.reduction_factor,
          rule.promotion ? "go on" : "go past each rung",
          rule.max_t);
    case SchedulerKind::kPbt:
      return fmt::format(
          "pbt: each {}{}, the worst {:g} give their places to changed copies of the "
          "best, {} is the end",
          rule.pbt.perturbation_interval,
          rule.pbt.burn_in_period > rule.pbt.perturbation_interval
              ? fmt::format(" from {} on", rule.pbt.burn_in_period)
              : "",
          rule.pbt.quantile_fraction,
          rule.max_t);
    case SchedulerKind::kMedian:
      return fmt::format(
          "median_stopping_rule: a trial whose best is worse than the median of {} or "
          "more others' running means{}",
          rule.min_samples_required,
          FromText(rule));
    case SchedulerKind::kPatience:
      return fmt::format(
          "patience: complete after {} without a better value{}{}",
          rule.patience,
          rule.min_delta > 0 ? fmt::format(" by {}", rule.min_delta) : "",
          FromText(rule));
    case SchedulerKind::kPlateau:
      return fmt::format("plateau: complete when {} values vary by less than {}{}{}",
                         rule.num_results,
                         rule.std,
                         rule.metric_threshold
                             ? fmt::format(", once at {}", *rule.metric_threshold)
                             : "",
                         FromText(rule));
    case SchedulerKind::kTarget:
      return fmt::format("target: complete at {}", rule.target);
    case SchedulerKind::kAny:
    case SchedulerKind::kFifo:
      break;
  }
  return "nothing early (scheduler fifo)";
}

std::vector<std::pair<std::string, std::string>> ScheduleLines(
    const SchedulerOptions& options) {
  if (options.kind == SchedulerKind::kFifo) return {{"stops", RuleText(options)}};
  std::vector<std::pair<std::string, std::string>> lines;
  const bool asha_alone = options.kind == SchedulerKind::kAsha;
  for (const SchedulerOptions& rule : RulesOf(options)) {
    std::string text = RuleText(rule);
    // "asha on epoch: ..."
    text.insert(text.find(':'), " on " + options.time_attr);
    lines.emplace_back("stops", std::move(text));
    if (rule.kind == SchedulerKind::kPbt) {
      lines.emplace_back(
          "copies",
          rule.pbt.mutations.empty()
              ? "change every parameter"
              : fmt::format("change {}", fmt::join(rule.pbt.mutations, ", ")));
    }
    if (rule.kind != SchedulerKind::kAsha) continue;
    for (auto& line : RungLines(rule)) lines.push_back(std::move(line));
  }
  if (!asha_alone && !MaxTime(options)) {
    lines.emplace_back("", "no max_t: a trial that no rule ends runs to its own end");
  }
  return lines;
}

}  // namespace hyperopt

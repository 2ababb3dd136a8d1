#include "search/objectives.h"

#include <fmt/format.h>

#include <algorithm>

#include "search/report_time.h"
#include "trial/pareto.h"

namespace hyperopt {
namespace {

double Signed(Goal goal, double value) {
  return goal == Goal::kMinimize ? value : -value;
}

}  // namespace

void TakeOthers(const std::string& values,
                const SearchConfig& config,
                std::vector<Objective>* others) {
  others->resize(config.objectives.size());
  for (size_t i = 0; i < config.objectives.size(); ++i) {
    if (const auto value = FieldOf(values, config.objectives[i].metric)) {
      (*others)[i] = Objective::Of(*value);
    }
  }
}

std::vector<Objective> OthersOf(std::span<const ReportRow> reports,
                                const SearchConfig& config) {
  std::vector<Objective> others(config.objectives.size());
  if (others.empty()) return others;
  for (const ReportRow& report : reports) TakeOthers(report.values, config, &others);
  return others;
}

std::optional<std::string> LackingObjective(std::span<const Objective> others,
                                            const SearchConfig& config) {
  for (size_t i = 0; i < config.objectives.size(); ++i) {
    const bool came = i < others.size() && !others[i].missing();
    if (came && others[i].finite()) continue;
    return fmt::format("`{}` {}",
                       config.objectives[i].metric,
                       came ? "is not finite at the last" : "never came");
  }
  return std::nullopt;
}

void RequireObjectives(std::span<const Objective> others,
                       const SearchConfig& config,
                       Outcome* outcome) {
  auto lacking = LackingObjective(others, config);
  if (!lacking) return;
  const bool came = lacking->find("never came") == std::string::npos;
  outcome->state = TrialState::kFailed;
  outcome->reason = came ? Reason::kNotFinite : Reason::kNoMetric;
  outcome->detail = *std::move(lacking);
}

std::vector<FrontTrial> ParetoFront(const TrialStore& store,
                                    std::span<const TrialRow> trials,
                                    const SearchConfig& config) {
  if (config.objectives.empty()) return {};
  std::vector<std::vector<Objective>> others;
  for (const TrialRow& row : trials) {
    others.push_back(OthersOf(store.LoadReports(row.id), config));
  }
  return ParetoFront(trials, others, config);
}

std::vector<FrontTrial> ParetoFront(std::span<const TrialRow> trials,
                                    std::span<const std::vector<Objective>> others,
                                    const SearchConfig& config) {
  if (config.objectives.empty()) return {};
  std::vector<FrontTrial> candidates;
  std::vector<Point> points;
  for (size_t i = 0; i < trials.size(); ++i) {
    const TrialRow& row = trials[i];
    const bool ended =
        row.state == TrialState::kCompleted || row.state == TrialState::kStopped;
    if (!ended || !row.last.finite()) continue;
    if (!std::ranges::all_of(others[i], &Objective::finite)) continue;
    FrontTrial trial{row.id, {row.last.value}};
    Point point = {Signed(config.goal, row.last.value)};
    for (size_t k = 0; k < others[i].size(); ++k) {
      trial.values.push_back(others[i][k].value);
      point.push_back(Signed(config.objectives[k].goal, others[i][k].value));
    }
    candidates.push_back(std::move(trial));
    points.push_back(std::move(point));
  }
  std::vector<FrontTrial> front;
  for (const size_t place : ParetoFrontOf(points)) {
    front.push_back(std::move(candidates[place]));
  }
  std::ranges::stable_sort(front, {}, [&](const FrontTrial& each) {
    return std::pair(Signed(config.goal, each.values[0]), each.trial);
  });
  return front;
}

std::string ObjectivesText(const SearchConfig& config) {
  std::string text = fmt::format("{} {}", ToString(config.goal), config.metric_field());
  for (const OtherObjective& each : config.objectives) {
    text += fmt::format(", {} {}", ToString(each.goal), each.metric);
  }
  return text;
}

}  // namespace hyperopt

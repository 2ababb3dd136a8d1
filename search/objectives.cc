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
  std::vector<FrontTrial> front;
  if (config.objectives.empty()) return front;
  std::vector<Point> points;
  for (const TrialRow& row : trials) {
    const bool ended =
        row.state == TrialState::kCompleted || row.state == TrialState::kStopped;
    if (!ended || !row.last.finite()) continue;
    const std::vector<Objective> others = OthersOf(store.LoadReports(row.id), config);
    if (!std::ranges::all_of(others, &Objective::finite)) continue;
    FrontTrial trial{row.id, {row.last.value}};
    Point point = {Signed(config.goal, row.last.value)};
    for (size_t i = 0; i < others.size(); ++i) {
      trial.values.push_back(others[i].value);
      point.push_back(Signed(config.objectives[i].goal, others[i].value));
    }
    front.push_back(std::move(trial));
    points.push_back(std::move(point));
  }
  const std::vector<int> ranks = ParetoRanks(points);
  size_t kept = 0;
  for (size_t i = 0; i < front.size(); ++i) {
    if (ranks[i] == 0) std::swap(front[kept++], front[i]);
  }
  front.resize(kept);
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

#include "search/commands/trials_table.h"

#include <algorithm>
#include <cmath>

#include "search/format.h"
#include "search/objectives.h"
#include "search/outcome.h"

namespace hyperopt {

namespace {

// The same in each row of a configuration, whose first trial is the last cell.
void AddStanding(const Standing& standing, std::vector<std::string>* cells) {
  const auto number = [](double value) {
    return std::isnan(value) ? std::string("-") : NumberText(value);
  };
  cells->push_back(number(standing.mean));
  cells->push_back(standing.failed ? "failed" : number(standing.error));
  cells->push_back(std::to_string(standing.values.size()));
  cells->push_back(std::to_string(standing.first.value()));
}

}  // namespace

std::string TrialsTable(const SweepFacts& facts,
                        const std::vector<TrialRow>& rows,
                        size_t width) {
  const std::vector<Params> params = facts.query.ParamsOf(rows);
  const bool any_why = std::ranges::any_of(
      rows, [](const TrialRow& row) { return !WhyText(row).empty(); });
  constexpr auto kRight = Table::Align::kRight;
  constexpr auto kLast = Table::Yield::kLast;
  std::vector<Table::Column> columns = {{"trial", kRight, kLast},
                                        {"state", Table::Align::kLeft, kLast},
                                        {facts.sweep.metric, kRight, kLast}};
  for (const OtherObjective& each : facts.config.objectives) {
    columns.push_back({each.metric, kRight, kLast});
  }
  const std::optional<Race> race = RaceOf(facts);
  if (race) {
    columns.push_back({"mean", kRight, kLast});
    columns.push_back({"error", kRight, kLast});
    columns.push_back({"n", kRight, kLast});
    columns.push_back({"of", kRight, kLast});
  }
  columns.push_back({"step", kRight, kLast});
  for (const Parameter& parameter : facts.config.space.parameters()) {
    columns.push_back({parameter.name, kRight});
  }
  if (any_why) {
    columns.push_back({"why", Table::Align::kLeft, Table::Yield::kFirst});
  }
  Table table(columns);
  for (size_t i = 0; i < rows.size(); ++i) {
    const BestSoFar best = BestOf(rows[i], facts.config.value);
    std::vector<std::string> cells = {std::to_string(rows[i].id.value()),
                                      std::string(ToString(rows[i].state)),
                                      NumberText(best.value)};
    if (!facts.config.objectives.empty()) {
      const auto reports = facts.query.store().LoadReports(rows[i].id);
      for (const Objective& other : OthersOf(reports, facts.config)) {
        cells.push_back(NumberText(other));
      }
    }
    if (race) AddStanding(race->Of(rows[i].id), &cells);
    cells.push_back(std::to_string(best.step));
    for (const Parameter& parameter : facts.config.space.parameters()) {
      const auto value = params[i].find(parameter.name);
      cells.push_back(value == params[i].end() ? "-" : ValueText(value->second));
    }
    if (any_why) cells.push_back(WhyText(rows[i]));
    table.AddRow(std::move(cells));
  }
  return table.ToText(width);
}

}  // namespace hyperopt

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "search/commands/look.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/sweep_facts.h"
#include "search/commands/text_width.h"
#include "search/commands/trials_table.h"
#include "search/curve_plot.h"
#include "search/format.h"
#include "search/standing_text.h"
#include "trial/errors.h"
#include "trial/json.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

// What --sort asks for; throws ConfigError for a name that is none.
void ReadSort(const std::string& sort, const SearchSpace& space, TrialsWanted* wanted) {
  wanted->turned = sort.starts_with('-');
  const std::string key = sort.substr(wanted->turned);
  const std::map<std::string, TrialColumn> columns = {
      {"best", TrialColumn::kBest},
      {"last", TrialColumn::kLast},
      {"id", TrialColumn::kId},
      {"state", TrialColumn::kState},
      {"started", TrialColumn::kStarted},
      {"ended", TrialColumn::kEnded}};
  if (const auto column = columns.find(key); column != columns.end()) {
    wanted->order = column->second;
    return;
  }
  wanted->order = key;
  if (space.Find(key) != nullptr) return;
  std::vector<std::string> names;
  for (const auto& [name, column] : columns) names.push_back(name);
  for (const Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  const auto nearest = NearestName(key, names);
  throw ConfigError(fmt::format(
      "--sort {}: {}",
      key,
      nearest ? "did you mean " + *nearest + "?" : "neither a column nor a parameter"));
}

OrderedJson NumberOf(const Objective& value) {
  return value.missing() ? OrderedJson() : NumberToJson(value.AsDouble());
}

void PrintJson(const SweepFacts& facts, const std::vector<TrialRow>& rows) {
  const std::vector<Params> params = facts.query.ParamsOf(rows);
  const std::optional<Race> race = RaceOf(facts);
  std::fputs("[", stdout);
  const char* between = "\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    const TrialRow& row = rows[i];
    OrderedJson json = {{"id", row.id.value()},
                        {"state", ToString(row.state)},
                        {"reason", ToString(row.reason)},
                        {"detail", row.detail},
                        {"attempt", row.attempt.value()},
                        {"best", NumberOf(row.best)},
                        {"best_step", row.best_step},
                        {"last", NumberOf(row.last)},
                        {"last_step", row.last_step},
                        {"params", ParamsToJson(params[i])}};
    if (race) json["repeats"] = StandingToJson(race->Of(row.id));
    std::printf("%s%s", between, DumpJson(json).c_str());
    between = ",\n";
  }
  std::fputs("\n]\n", stdout);
}

// What was best after so many trials: a point an improvement, and the last.
std::vector<std::pair<int64_t, double>> BestSoFarOf(const SweepFacts& facts) {
  TrialsWanted wanted;
  wanted.order = TrialColumn::kId;
  std::vector<std::pair<int64_t, double>> points;
  Objective best;
  const std::vector<TrialRow> rows = facts.Trials(wanted);
  for (const TrialRow& row : rows) {
    const Objective& value = RankedValue(row, facts.config.value);
    if (row.state == TrialState::kFailed || !value.finite()) continue;
    if (!best.missing() && !Better(facts.sweep.goal, value, best)) continue;
    // A step, not a slope.
    if (!best.missing()) points.emplace_back(row.id.value(), best.value);
    points.emplace_back(row.id.value() + 1, value.value);
    best = value;
  }
  if (!points.empty() && points.back().first < std::ssize(rows)) {
    points.emplace_back(std::ssize(rows), best.value);
  }
  return points;
}

void PrintPlot(const SweepFacts& facts) {
  const auto points = BestSoFarOf(facts);
  if (points.empty()) {
    std::printf("no trial has a finite value yet\n\n");
    return;
  }
  std::printf("best %s so far, by trial\n", Printable(facts.sweep.metric).c_str());
  const PlotInk ink = SpeaksUtf8() ? PlotInk::kBraille : PlotInk::kAscii;
  for (const std::string& line :
       PlotCurve(points, ink, {std::min<size_t>(TextWidth(), 100), 10})) {
    std::printf("%s\n", line.c_str());
  }
  std::printf("\n");
}

// The best configurations first, each with its repeats; then those without a value.
std::vector<TrialRow> ByConfiguration(const SweepFacts& facts, TrialsWanted wanted) {
  const Race race = *RaceOf(facts);
  const int64_t limit = std::exchange(wanted.limit, 0);
  wanted.order = TrialColumn::kId;
  std::map<TrialId, TrialRow> found;
  for (TrialRow& row : facts.Trials(wanted)) found[row.id] = std::move(row);
  std::vector<TrialRow> rows;
  const auto take = [&](TrialId id) {
    const auto row = found.find(id);
    if (row == found.end() || (limit > 0 && std::ssize(rows) == limit)) return;
    rows.push_back(std::move(row->second));
    found.erase(row);
  };
  for (const Standing* standing : race.Ranked()) {
    for (const TrialId id : standing->trials) take(id);
  }
  while (!found.empty() && (limit == 0 || std::ssize(rows) < limit)) {
    for (const TrialId id : race.Of(found.begin()->first).trials) take(id);
  }
  return rows;
}

int64_t CountOf(const SweepFacts& facts, const std::optional<TrialState>& state) {
  int64_t count = 0;
  for (const auto& [each, trials] : facts.Counts()) {
    if (!state || each == *state) count += trials;
  }
  return count;
}

}  // namespace

int TrialsCommand(const TrialsOptions& options) {
  const SweepFacts facts(SweepDirOf(options.dir));
  TrialsWanted wanted;
  const bool by_value = facts.config.value == ValueRule::kBest;
  ReadSort(
      options.sort.value_or(by_value ? "best" : "last"), facts.config.space, &wanted);
  wanted.goal = facts.sweep.goal;
  wanted.state = options.state;
  wanted.limit = options.limit;
  const std::vector<TrialRow> rows = facts.config.repeats > 1 && !options.sort
                                         ? ByConfiguration(facts, wanted)
                                         : facts.Trials(wanted);
  if (options.json) {
    PrintJson(facts, rows);
    return 0;
  }
  if (options.plot) PrintPlot(facts);
  if (rows.empty()) {
    std::printf("no trials%s\n", options.state ? " in this state" : " yet");
    return 0;
  }
  std::fputs(TrialsTable(facts, rows, TextWidth()).c_str(), stdout);
  const int64_t more = CountOf(facts, options.state) - std::ssize(rows);
  if (more > 0) {
    std::printf("%lld more (--limit 0 shows all)\n", static_cast<long long>(more));
  }
  return 0;
}

}  // namespace hyperopt

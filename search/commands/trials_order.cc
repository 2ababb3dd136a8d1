#include "search/commands/trials_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "search/objectives.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

std::map<std::string, TrialColumn> Columns() {
  return {{"best", TrialColumn::kBest},
          {"last", TrialColumn::kLast},
          {"id", TrialColumn::kId},
          {"trial", TrialColumn::kId},
          {"state", TrialColumn::kState},
          {"started", TrialColumn::kStarted},
          {"ended", TrialColumn::kEnded}};
}

// Columns of the table that the record can not sort by itself: less comes first, NaN
// behind all.
using SortKey = std::function<double(const TrialRow&)>;

SortKey OfStanding(const SweepFacts& facts, double (*of)(const Standing&, Goal)) {
  return [race = *RaceOf(facts), of, goal = facts.sweep.goal](const TrialRow& row) {
    const Standing& standing = race.Of(row.id);
    return standing.failed ? std::numeric_limits<double>::quiet_NaN()
                           : of(standing, goal);
  };
}

double Signed(double value, Goal goal) {
  return goal == Goal::kMinimize ? value : -value;
}

SortKey OfObjective(const SweepFacts& facts, size_t index) {
  return [&facts, index](const TrialRow& row) {
    if (row.state == TrialState::kFailed)
      return std::numeric_limits<double>::quiet_NaN();
    const auto others = OthersOf(facts.query.store().LoadReports(row.id), facts.config);
    return others[index].finite()
               ? Signed(others[index].value, facts.config.objectives[index].goal)
               : std::numeric_limits<double>::quiet_NaN();
  };
}

std::map<std::string, SortKey> SortKeys(const SweepFacts& facts) {
  std::map<std::string, SortKey> keys;
  const bool best = facts.config.value == ValueRule::kBest;
  keys["step"] = [best](const TrialRow& row) {
    return static_cast<double>(best ? row.best_step : row.last_step);
  };
  for (size_t i = 0; i < facts.config.objectives.size(); ++i) {
    keys[facts.config.objectives[i].metric] = OfObjective(facts, i);
  }
  if (facts.config.repeats == 1) return keys;
  keys["mean"] = OfStanding(facts, [](const Standing& standing, Goal goal) {
    return Signed(standing.mean, goal);
  });
  keys["error"] =
      OfStanding(facts, [](const Standing& standing, Goal) { return standing.error; });
  keys["n"] = [race = *RaceOf(facts)](const TrialRow& row) {
    return static_cast<double>(race.Of(row.id).values.size());
  };
  keys["of"] = [race = *RaceOf(facts)](const TrialRow& row) {
    return static_cast<double>(race.Of(row.id).first.value());
  };
  return keys;
}

[[noreturn]] void Refuse(const std::string& key,
                         const SweepFacts& facts,
                         const std::map<std::string, SortKey>& keys) {
  std::set<std::string> names = {facts.sweep.metric};
  for (const auto& [name, column] : Columns()) names.insert(name);
  for (const auto& [name, of] : keys) names.insert(name);
  std::set<std::string> parameters;
  for (const Parameter& each : facts.config.space.parameters()) {
    parameters.insert(each.name);
  }
  std::vector<std::string> all(names.begin(), names.end());
  all.insert(all.end(), parameters.begin(), parameters.end());
  const auto nearest = NearestName(key, all);
  throw ConfigError(
      fmt::format("--sort {}: there is no such column{}; there are {}; and the "
                  "parameters {}",
                  key,
                  nearest ? ", did you mean " + *nearest + "?" : "",
                  fmt::join(names, ", "),
                  fmt::join(parameters, ", ")));
}

std::vector<TrialRow> ByKey(const SweepFacts& facts,
                            TrialsWanted wanted,
                            const SortKey& of) {
  const int64_t limit = std::exchange(wanted.limit, 0);
  wanted.order = TrialColumn::kId;
  const bool turned = std::exchange(wanted.turned, false);
  std::vector<std::pair<double, TrialRow>> found;
  for (TrialRow& row : facts.Trials(wanted)) {
    const double key = of(row);
    found.emplace_back(key, std::move(row));
  }
  const auto less = [](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    return a < b;
  };
  std::ranges::stable_sort(found, [&](const auto& a, const auto& b) {
    return turned ? less(b.first, a.first) : less(a.first, b.first);
  });
  std::vector<TrialRow> rows;
  for (auto& [key, row] : found) {
    if (limit > 0 && std::ssize(rows) == limit) break;
    rows.push_back(std::move(row));
  }
  return rows;
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

}  // namespace

std::vector<TrialRow> OrderedTrials(const SweepFacts& facts,
                                    const TrialsOptions& options) {
  TrialsWanted wanted;
  wanted.goal = facts.sweep.goal;
  wanted.state = options.state;
  wanted.limit = options.limit;
  const TrialColumn ranked =
      facts.config.value == ValueRule::kBest ? TrialColumn::kBest : TrialColumn::kLast;
  wanted.order = ranked;
  if (!options.sort) {
    return facts.config.repeats > 1 ? ByConfiguration(facts, wanted)
                                    : facts.Trials(wanted);
  }
  wanted.turned = options.sort->starts_with('-');
  const std::string key = options.sort->substr(wanted.turned);
  const std::map<std::string, TrialColumn> columns = Columns();
  if (const auto column = columns.find(key); column != columns.end()) {
    wanted.order = column->second;
    return facts.Trials(wanted);
  }
  if (facts.config.space.Find(key) != nullptr) {
    wanted.order = key;
    return facts.Trials(wanted);
  }
  if (key == facts.sweep.metric) return facts.Trials(wanted);
  const std::map<std::string, SortKey> keys = SortKeys(facts);
  const auto found = keys.find(key);
  if (found == keys.end()) Refuse(key, facts, keys);
  return ByKey(facts, wanted, found->second);
}

}  // namespace hyperopt

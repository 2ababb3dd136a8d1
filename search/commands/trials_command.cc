#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "search/commands/look.h"
#include "search/commands/recorded_sweep.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/text_width.h"
#include "search/format.h"
#include "search/outcome.h"
#include "search/status.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

using Rows = std::vector<const TrialRow*>;
using Less = std::function<bool(const TrialRow&, const TrialRow&)>;

std::map<TrialId, Params> ParamsOf(const RecordedSweep& sweep, const Rows& rows) {
  std::vector<TrialId> ids;
  for (const TrialRow* row : rows) ids.push_back(row->id);
  std::vector<Params> params = sweep.store->LoadParams(ids);
  std::map<TrialId, Params> by_id;
  for (size_t i = 0; i < ids.size(); ++i) by_id[ids[i]] = std::move(params[i]);
  return by_id;
}

// Numbers by size, whatever their type; the rest by type and value.
bool ParamLess(const ParamValue& a, const ParamValue& b) {
  const auto number = [](const ParamValue& value) -> std::optional<double> {
    if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
    if (const auto* d = std::get_if<double>(&value)) return *d;
    return std::nullopt;
  };
  const auto x = number(a), y = number(b);
  return x && y ? *x < *y : a < b;
}

Less LessByParam(const RecordedSweep& sweep,
                 const Rows& rows,
                 const std::string& name) {
  auto params = std::make_shared<std::map<TrialId, Params>>(ParamsOf(sweep, rows));
  return [=](const TrialRow& a, const TrialRow& b) {
    const auto x = params->at(a.id).find(name), y = params->at(b.id).find(name);
    const bool has_x = x != params->at(a.id).end(), has_y = y != params->at(b.id).end();
    return has_x && has_y ? ParamLess(x->second, y->second) : has_x && !has_y;
  };
}

Less LessBy(const RecordedSweep& sweep, const Rows& rows, const std::string& key) {
  const Goal goal = sweep.record.sweep.goal;
  const std::map<std::string, Less> known = {
      {"best",
       [=](const auto& a, const auto& b) { return Better(goal, a.best, b.best); }},
      {"last",
       [=](const auto& a, const auto& b) { return Better(goal, a.last, b.last); }},
      {"id", [](const auto& a, const auto& b) { return a.id < b.id; }},
      {"state", [](const auto& a, const auto& b) { return a.state < b.state; }},
      {"started", [](const auto& a, const auto& b) { return a.started < b.started; }},
      {"ended", [](const auto& a, const auto& b) { return a.ended < b.ended; }}};
  if (const auto less = known.find(key); less != known.end()) return less->second;
  if (sweep.config.space.Find(key) != nullptr) return LessByParam(sweep, rows, key);
  std::vector<std::string> names;
  for (const auto& [name, less] : known) names.push_back(name);
  for (const Parameter& parameter : sweep.config.space.parameters()) {
    names.push_back(parameter.name);
  }
  const auto nearest = NearestName(key, names);
  throw ConfigError(fmt::format(
      "--sort {}: {}",
      key,
      nearest ? "did you mean " + *nearest + "?" : "neither a column nor a parameter"));
}

void Sort(const RecordedSweep& sweep, const std::string& sort, Rows* rows) {
  const bool turned = sort.starts_with('-');
  const Less less = LessBy(sweep, *rows, sort.substr(turned));
  std::stable_sort(
      rows->begin(), rows->end(), [&](const TrialRow* a, const TrialRow* b) {
        return turned ? less(*b, *a) : less(*a, *b);
      });
}

void PrintTable(const RecordedSweep& sweep, const Rows& rows) {
  auto params = ParamsOf(sweep, rows);
  const bool any_why = std::any_of(rows.begin(), rows.end(), [](const TrialRow* row) {
    return !WhyText(*row).empty();
  });
  constexpr auto kRight = Table::Align::kRight;
  constexpr auto kLast = Table::Yield::kLast;
  std::vector<Table::Column> columns = {{"trial", kRight, kLast},
                                        {"state", Table::Align::kLeft, kLast},
                                        {sweep.record.sweep.metric, kRight, kLast},
                                        {"step", kRight, kLast}};
  for (const Parameter& parameter : sweep.config.space.parameters()) {
    columns.push_back({parameter.name, kRight});
  }
  if (any_why) {
    columns.push_back({"why", Table::Align::kLeft, Table::Yield::kFirst});
  }
  Table table(columns);
  for (const TrialRow* row : rows) {
    const BestSoFar best = BestOf(*row, sweep.config.value);
    std::vector<std::string> cells = {std::to_string(row->id.value()),
                                      std::string(ToString(row->state)),
                                      NumberText(best.value),
                                      std::to_string(best.step)};
    const Params& values = params[row->id];
    for (const Parameter& parameter : sweep.config.space.parameters()) {
      const auto value = values.find(parameter.name);
      cells.push_back(value == values.end() ? "-" : ValueText(value->second));
    }
    if (any_why) cells.push_back(WhyText(*row));
    table.AddRow(std::move(cells));
  }
  std::fputs(table.ToText(TextWidth()).c_str(), stdout);
}

OrderedJson NumberOf(const Objective& value) {
  return value.missing() ? OrderedJson() : NumberToJson(value.AsDouble());
}

void PrintJson(const RecordedSweep& sweep, const Rows& rows) {
  auto params = ParamsOf(sweep, rows);
  std::fputs("[", stdout);
  const char* between = "\n";
  for (const TrialRow* row : rows) {
    const OrderedJson json = {{"id", row->id.value()},
                              {"state", ToString(row->state)},
                              {"reason", ToString(row->reason)},
                              {"detail", row->detail},
                              {"attempt", row->attempt.value()},
                              {"best", NumberOf(row->best)},
                              {"best_step", row->best_step},
                              {"last", NumberOf(row->last)},
                              {"last_step", row->last_step},
                              {"params", ParamsToJson(params[row->id])}};
    std::printf("%s%s", between, DumpJson(json).c_str());
    between = ",\n";
  }
  std::fputs("\n]\n", stdout);
}

}  // namespace

int TrialsCommand(const TrialsOptions& options) {
  const RecordedSweep sweep = ReadSweep(SweepDirOf(options.dir));
  Rows rows;
  for (const TrialRow& row : sweep.record.trials) {
    if (!options.state || row.state == *options.state) rows.push_back(&row);
  }
  const bool by_value = sweep.config.value == ValueRule::kBest;
  Sort(sweep, options.sort.value_or(by_value ? "best" : "last"), &rows);
  const int64_t more =
      options.limit == 0 ? 0 : std::max<int64_t>(0, std::ssize(rows) - options.limit);
  rows.resize(rows.size() - static_cast<size_t>(more));
  if (options.json) {
    PrintJson(sweep, rows);
    return 0;
  }
  if (rows.empty()) {
    std::printf("no trials%s\n", options.state ? " in this state" : " yet");
    return 0;
  }
  PrintTable(sweep, rows);
  if (more > 0)
    std::printf("%ld more (--limit 0 shows all)\n", static_cast<long>(more));
  return 0;
}

}  // namespace hyperopt

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "search/commands/import.h"
#include "search/commands/recorded_sweep.h"
#include "search/record_start.h"
#include "search/status.h"
#include "search/sweep_folder.h"
#include "trial/clock.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

std::string ConfigText(const ImportedSweep& sweep,
                       const std::string& name,
                       const OrderedJson& parameters) {
  return DumpJson(
      {{"name", name},
       {"command", {"imported"}},
       {"hyperopt",
        {{"metric", sweep.metric},
         {"goal", ToString(sweep.goal)},
         {"value", "last"},
         {"parameters", parameters},
         {"search_alg", {{"type", "random"}}},
         {"executor", {{"num_samples", std::max<size_t>(1, sweep.trials.size())}}}}}},
      2);
}

bool IsUnderstood(const std::string& text) {
  try {
    ParseConfig(text, "the import", fs::current_path());
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

// A range around the numbers, or a list of all values.
OrderedJson SpaceOfValues(const std::vector<ParamValue>& values) {
  bool whole = true, real = true;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const ParamValue& value : values) {
    const auto* integer = std::get_if<int64_t>(&value);
    const auto* number = std::get_if<double>(&value);
    whole = whole && integer != nullptr;
    real = real && (integer != nullptr || number != nullptr);
    if (!real) break;
    const double at = integer != nullptr ? static_cast<double>(*integer) : *number;
    low = std::min(low, at);
    high = std::max(high, at);
  }
  if (real && low < high) {
    return {
        {"space", whole ? "int" : "float"},
        {"lower", whole ? OrderedJson(static_cast<int64_t>(low)) : OrderedJson(low)},
        {"upper", whole ? OrderedJson(static_cast<int64_t>(high)) : OrderedJson(high)}};
  }
  OrderedJson list = OrderedJson::array();
  for (const ParamValue& value : values) {
    OrderedJson json = ParamValueToJson(value);
    if (std::find(list.begin(), list.end(), json) == list.end()) list.push_back(json);
  }
  return {{"space", "choice"}, {"categories", list}};
}

OrderedJson SpacesOfValues(const ImportedSweep& sweep) {
  std::map<std::string, std::vector<ParamValue>> values;
  for (const ImportedTrial& trial : sweep.trials) {
    for (const auto& [name, value] : trial.params) values[name].push_back(value);
  }
  OrderedJson spaces = OrderedJson::object();
  for (const auto& [name, seen] : values) spaces[name] = SpaceOfValues(seen);
  return spaces;
}

// ---- the record ----

// Reports in which the last that has the metric is what the trial is worth.
std::map<int64_t, std::map<std::string, double>> ReportsOf(const ImportedTrial& trial,
                                                           const std::string& metric) {
  auto reports = trial.reports;
  if (!trial.value) return reports;
  const int64_t last = reports.empty() ? 0 : reports.rbegin()->first;
  const auto known = reports.empty() ? reports.end() : std::prev(reports.end());
  const bool told = known != reports.end() && known->second.contains(metric) &&
                    known->second.at(metric) == *trial.value;
  if (!told) reports[last + 1][metric] = *trial.value;
  return reports;
}

class Writer {
 public:
  Writer(const ImportedSweep& sweep, const SearchConfig& config, WallTime now)
      : sweep_(sweep), config_(config), now_(now) {}

  std::vector<RecordChange> Changes(SweepRow row) {
    for (const ImportedTrial& trial : sweep_.trials) {
      if (trial.started > 0) row.created = std::min(row.created, trial.started);
    }
    row.state = SweepState::kFinished;
    changes_.push_back(PutSweep{row});
    ExecutorRow executor;
    executor.id = ExecutorId(1);
    executor.name = "imported";
    executor.joined = executor.left = row.created;
    changes_.push_back(PutExecutor{executor});
    for (size_t i = 0; i < sweep_.trials.size(); ++i) {
      Add(TrialId(static_cast<int64_t>(i)), sweep_.trials[i]);
    }
    return std::move(changes_);
  }

 private:
  void Add(TrialId id, const ImportedTrial& trial) {
    const RunKey key{id, RunId(0), Attempt(1)};
    TrialRow row;
    row.id = id;
    row.state = trial.state;
    row.reason = trial.reason;
    row.detail = trial.detail;
    row.attempt = key.attempt;
    row.created = row.started = trial.started > 0 ? trial.started : now_;
    row.ended = trial.ended > 0 ? trial.ended : row.started;
    std::vector<ReportRow> reports;
    for (const auto& [step, fields] : ReportsOf(trial, sweep_.metric)) {
      reports.push_back(Report(key, step, fields, row));
      Count(reports.back(), &row);
    }
    Params params;
    for (const auto& [name, value] : trial.params) {
      const Parameter* parameter = config_.space.Find(name);
      params[name] = parameter == nullptr ? value : Typed(parameter->domain, value);
    }
    changes_.push_back(PutTrial{row});
    changes_.push_back(PutParams{id, std::move(params)});
    RunRow run;
    run.key = key;
    run.executor = ExecutorId(1);
    run.started = row.started;
    run.ended = row.ended;
    run.outcome = "imported";
    changes_.push_back(PutRun{run});
    for (ReportRow& report : reports) changes_.push_back(AddReport{std::move(report)});
  }

  ReportRow Report(const RunKey& key,
                   int64_t step,
                   const std::map<std::string, double>& fields,
                   const TrialRow& row) {
    ReportRow report;
    report.key = key;
    report.offset = ++offset_;
    report.step = step;
    OrderedJson values = {{"step", step}};
    for (const auto& [field, value] : fields) values[field] = NumberToJson(value);
    report.values = DumpJson(values);
    const auto metric = fields.find(sweep_.metric);
    if (metric != fields.end()) report.objective = Objective::Of(metric->second);
    report.wall = row.ended;
    report.elapsed_s = row.ended - row.started;
    return report;
  }

  void Count(const ReportRow& report, TrialRow* row) const {
    if (report.objective.missing()) return;
    ++row->reports;
    row->last = report.objective;
    row->last_step = report.step;
    if (!row->best.missing() && !Better(sweep_.goal, report.objective, row->best)) {
      return;
    }
    row->best = report.objective;
    row->best_step = report.step;
  }

  const ImportedSweep& sweep_;
  const SearchConfig& config_;
  const WallTime now_;
  int64_t offset_ = 0;
  std::vector<RecordChange> changes_;
};

}  // namespace

std::string ImportedConfig(ImportedSweep* sweep, const std::string& name) {
  const std::string text = ConfigText(*sweep, name, ParseJson(sweep->parameters));
  if (IsUnderstood(text)) return text;
  sweep->notes.push_back(
      "its ranges are not understood: those of the values are taken instead");
  return ConfigText(*sweep, name, SpacesOfValues(*sweep));
}

void WriteImported(const ImportedSweep& sweep,
                   const std::string& text,
                   const fs::path& file,
                   const fs::path& dir) {
  if (fs::exists(dir / "sweep.db")) {
    throw ConfigError(dir.string() +
                      ": there is a sweep already; name another folder with --output");
  }
  SearchConfig config = ParseConfig(text, file.filename().string(), fs::current_path());
  SweepFolder folder = SweepFolder::Take(dir);
  OpenedRecord record = OpenRecord(&folder, &config, OldRecord::kResume);
  SweepRow row = record.snapshot.sweep;
  row.origin[std::string(kImportedOrigin)] =
      fmt::format("{}, {}", sweep.from, fs::absolute(file).string());
  Writer writer(sweep, config, ReadClocks().wall);
  record.store->Commit(writer.Changes(std::move(row)));
}

}  // namespace hyperopt

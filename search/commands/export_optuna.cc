// Optuna: a SQLite storage that optuna.load_study opens.
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "search/commands/export.h"
#include "search/commands/export_common.h"
#include "search/commands/optuna_schema.h"
#include "search/report/curves.h"
#include "search/status.h"
#include "trial/errors.h"
#include "trial/foreign_sqlite.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kStudy = 1;
// A normal has no ends, Optuna's distributions have: beyond these lie 1e-15 of it.
constexpr double kNormalReach_sd = 8;

// ---- parameters ----

// Optuna's form of a domain; of a list the values that trials have, if not in it, too.
struct Distribution {
  std::string json;
  std::vector<ParamValue> choices;  // of a list: its value is a place in it
};

std::string DistributionJson(const char* name, OrderedJson attributes) {
  return DumpJson({{"name", name}, {"attributes", std::move(attributes)}});
}

std::string RangeJson(const Domain& domain) {
  if (const auto* real = std::get_if<FloatDomain>(&domain)) {
    const bool stepped = real->step.has_value() && !real->log;  // never both there
    return DistributionJson(
        "FloatDistribution",
        {{"step", stepped ? OrderedJson(*real->step) : OrderedJson()},
         {"low", real->lower},
         {"high", real->upper},
         {"log", real->log}});
  }
  if (const auto* whole = std::get_if<IntDomain>(&domain)) {
    return DistributionJson("IntDistribution",
                            {{"log", whole->log},
                             {"step", whole->log ? 1 : whole->step},
                             {"low", whole->lower},
                             {"high", whole->upper}});
  }
  const auto& normal = std::get<NormalDomain>(domain);
  return DistributionJson("FloatDistribution",
                          {{"step", nullptr},
                           {"low", normal.mean - kNormalReach_sd * normal.sd},
                           {"high", normal.mean + kNormalReach_sd * normal.sd},
                           {"log", false}});
}

// Optuna's choices are null, true, numbers and texts; a list or a map is its JSON text.
OrderedJson ChoiceJson(const ParamValue& value) {
  const auto* structured = std::get_if<Structured>(&value);
  return structured != nullptr ? OrderedJson(structured->json)
                               : ParamValueToJson(value);
}

std::map<std::string, Distribution> DistributionsOf(const RecordedSweep& sweep) {
  std::map<std::string, Distribution> all;
  std::vector<TrialId> ids;
  for (const TrialRow& row : sweep.record.trials) ids.push_back(row.id);
  const std::vector<Params> trials = sweep.store->LoadParams(ids);
  for (const Parameter& parameter : sweep.config.space.parameters()) {
    Distribution& made = all[parameter.name];
    const auto* choice = std::get_if<CategoricalDomain>(&parameter.domain);
    const auto* grid = std::get_if<GridDomain>(&parameter.domain);
    if (choice == nullptr && grid == nullptr) {
      made.json = RangeJson(parameter.domain);
      continue;
    }
    made.choices = choice != nullptr ? choice->values : grid->values;
    for (const Params& params : trials) {
      const auto found = params.find(parameter.name);
      if (found != params.end() &&
          std::find(made.choices.begin(), made.choices.end(), found->second) ==
              made.choices.end()) {
        made.choices.push_back(found->second);
      }
    }
    OrderedJson choices = OrderedJson::array();
    for (const ParamValue& value : made.choices) choices.push_back(ChoiceJson(value));
    made.json = DistributionJson("CategoricalDistribution", {{"choices", choices}});
  }
  return all;
}

double InternalValue(const Distribution& distribution, const ParamValue& value) {
  if (!distribution.choices.empty()) {
    const auto& choices = distribution.choices;
    return static_cast<double>(std::find(choices.begin(), choices.end(), value) -
                               choices.begin());
  }
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&value);
  return real != nullptr ? *real : std::nan("");
}

// ---- trials ----

// Optuna's clock is local time without a zone.
DbCell DateTime(WallTime wall) {
  if (wall == 0) return {};
  const auto seconds = static_cast<std::time_t>(std::floor(wall));
  std::tm local = {};
  localtime_r(&seconds, &local);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06}",
                     local.tm_year + 1900,
                     local.tm_mon + 1,
                     local.tm_mday,
                     local.tm_hour,
                     local.tm_min,
                     local.tm_sec,
                     static_cast<int>((wall - std::floor(wall)) * 1e6));
}

// There a trial that is complete has a value, and no NaN.
const char* StateOf(const TrialRow& row, const Objective& value) {
  switch (row.state) {
    case TrialState::kCompleted:
      return std::isnan(value.AsDouble()) ? "FAIL" : "COMPLETE";
    case TrialState::kStopped:
      return "PRUNED";
    case TrialState::kFailed:
      return "FAIL";
    case TrialState::kRunning:
      return "RUNNING";
    default:
      return "WAITING";
  }
}

// Its column pair: the number, and what it is where no column can hold it.
void AppendNumber(double value, DbRow* row) {
  const bool finite = std::isfinite(value);
  if (finite) {
    row->emplace_back(value);
  } else {
    row->emplace_back(std::monostate());
  }
  row->emplace_back(std::string(finite              ? "FINITE"
                                : std::isnan(value) ? "NAN"
                                : value > 0         ? "INF_POS"
                                                    : "INF_NEG"));
}

struct Tables {
  std::vector<DbRow> trials, params, values, steps, attributes;
};

void AppendTrial(const RecordedSweep& sweep,
                 const std::map<std::string, Distribution>& distributions,
                 const TrialRecord& trial,
                 Tables* tables) {
  const TrialRow& row = *trial.row;
  const int64_t id = row.id.value() + 1;  // there ids begin with 1, numbers with 0
  const Objective& value = RankedValue(row, sweep.config.value);
  tables->trials.push_back({id,
                            row.id.value(),
                            kStudy,
                            std::string(StateOf(row, value)),
                            DateTime(row.started),
                            DateTime(row.ended)});
  for (const auto& [name, distribution] : distributions) {
    const auto found = trial.params.find(name);
    if (found == trial.params.end()) continue;
    tables->params.push_back(
        {id, name, InternalValue(distribution, found->second), distribution.json});
  }
  const bool ended =
      row.state == TrialState::kCompleted || row.state == TrialState::kStopped;
  if (ended && !std::isnan(value.AsDouble())) {
    DbRow cells = {id, int64_t{0}};
    AppendNumber(value.AsDouble(), &cells);
    tables->values.push_back(std::move(cells));
  }
  for (const CurvePoint& point : CurveOf(sweep.store->LoadReports(row.id))) {
    DbRow cells = {id, point.step};
    AppendNumber(point.value.AsDouble(), &cells);
    tables->steps.push_back(std::move(cells));
  }
  const auto attribute = [&](const char* key, const std::string& text) {
    if (!text.empty()) {
      tables->attributes.push_back({id, std::string(key), QuoteJson(text)});
    }
  };
  attribute("hyperopt:state", std::string(ToString(row.state)));
  if (row.reason != Reason::kNone) {
    attribute("hyperopt:reason", std::string(ToString(row.reason)));
  }
  attribute("hyperopt:detail", row.detail);
}

void WriteStudy(const SweepRow& row, ForeignDb* db) {
  db->Execute(kOptunaTables);
  db->Run("INSERT INTO version_info VALUES (1, ?, ?)",
          {int64_t{kOptunaSchema}, std::string("5.0.0")});
  db->Run("INSERT INTO alembic_version VALUES (?)", {std::string(kOptunaRevision)});
  db->Run("INSERT INTO studies VALUES (?, ?)", {kStudy, row.name});
  db->Run("INSERT INTO study_directions VALUES (1, ?, ?, 0)",
          {std::string(row.goal == Goal::kMinimize ? "MINIMIZE" : "MAXIMIZE"), kStudy});
  db->Run("INSERT INTO study_user_attributes VALUES (1, ?, 'hyperopt:sweep', ?)",
          {kStudy, QuoteJson(row.id)});
  db->Run("INSERT INTO study_system_attributes VALUES (1, ?, 'study:metric_names', ?)",
          {kStudy, '[' + QuoteJson(row.metric) + ']'});
}

void WriteTrials(const Tables& tables, ForeignDb* db) {
  db->RunEach("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?)", tables.trials);
  db->RunEach(
      "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) "
      "VALUES (?, ?, ?, ?)",
      tables.params);
  db->RunEach(
      "INSERT INTO trial_values (trial_id, objective, value, value_type) "
      "VALUES (?, ?, ?, ?)",
      tables.values);
  db->RunEach(
      "INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, "
      "intermediate_value_type) VALUES (?, ?, ?, ?)",
      tables.steps);
  db->RunEach(
      "INSERT INTO trial_user_attributes (trial_id, \"key\", value_json) "
      "VALUES (?, ?, ?)",
      tables.attributes);
}

}  // namespace

void ExportOptuna(const RecordedSweep& sweep, const fs::path& file) {
  // Other studies may be in it.
  if (fs::exists(file)) {
    throw ConfigError(file.string() +
                      ": there is such a file already; name another, or delete it");
  }
  const std::map<std::string, Distribution> distributions = DistributionsOf(sweep);
  Tables tables;
  ForEachTrial(sweep, [&](const TrialRecord& trial) {
    AppendTrial(sweep, distributions, trial, &tables);
  });
  fs::path part = file;
  part += ".part";
  std::error_code none;
  fs::remove(part, none);
  {
    ForeignDb db(part, ForeignDb::How::kCreate);
    db.Execute("PRAGMA synchronous = OFF; BEGIN");
    WriteStudy(sweep.record.sweep, &db);
    WriteTrials(tables, &db);
    db.Execute("COMMIT");
  }
  fs::rename(part, file);
}

}  // namespace hyperopt

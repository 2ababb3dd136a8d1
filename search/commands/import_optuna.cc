#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "search/commands/import.h"
#include "search/commands/optuna_schema.h"
#include "trial/errors.h"
#include "trial/foreign_sqlite.h"
#include "trial/state.h"

namespace hyperopt {
namespace {

// ---- the study ----

int64_t StudyOf(ForeignDb* db, const std::string& wanted, std::string* name) {
  std::vector<std::string> names;
  for (const DbRow& row : db->Query("SELECT study_id, study_name FROM studies")) {
    names.push_back(TextOf(row[1]));
    if (names.back() != wanted && !wanted.empty()) continue;
    *name = names.back();
    if (!wanted.empty()) return IntegerOf(row[0]);
  }
  if (wanted.empty() && names.size() == 1) {
    return IntegerOf(db->Query("SELECT study_id FROM studies")[0][0]);
  }
  if (names.empty()) throw ConfigError("there is no study in this storage");
  throw ConfigError(fmt::format(
      "{}: choose one with --study: {}",
      wanted.empty() ? "it holds several studies" : "there is no study " + wanted,
      fmt::join(names, ", ")));
}

void TakeGoal(ForeignDb* db, int64_t study, ImportedSweep* sweep) {
  const std::vector<DbRow> directions = db->Query(fmt::format(
      "SELECT direction FROM study_directions WHERE study_id = {} ORDER BY objective",
      study));
  if (!directions.empty() && TextOf(directions[0][0]) == "MAXIMIZE") {
    sweep->goal = Goal::kMaximize;
  }
  if (directions.size() > 1) {
    sweep->notes.push_back(fmt::format(
        "the study has {} objectives; the first is taken", directions.size()));
  }
  for (const DbRow& row : db->Query(fmt::format(
           "SELECT value_json FROM study_system_attributes WHERE study_id = {} AND "
           "\"key\" = 'study:metric_names'",
           study))) {
    const auto names = OrderedJson::parse(TextOf(row[0]), nullptr, false);
    if (names.is_array() && !names.empty() && names[0].is_string()) {
      sweep->metric = names[0].get<std::string>();
    }
  }
}

// ---- distributions, of which early versions have names of their own ----

struct Space {
  bool list = false, whole = false, log = false;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  OrderedJson step;
  OrderedJson choices = OrderedJson::array();
};

void Widen(const OrderedJson& distribution, Space* space) {
  const std::string name = distribution.at("name").get<std::string>();
  const OrderedJson& attributes = distribution.at("attributes");
  if (name == "CategoricalDistribution") {
    space->list = true;
    for (const OrderedJson& choice : attributes.at("choices")) {
      const bool known =
          std::find(space->choices.begin(), space->choices.end(), choice) !=
          space->choices.end();
      if (!known) space->choices.push_back(choice);
    }
    return;
  }
  space->whole = name.starts_with("Int");
  space->log = attributes.value("log", false) || name.find("Log") != std::string::npos;
  space->low = std::min(space->low, attributes.at("low").get<double>());
  space->high = std::max(space->high, attributes.at("high").get<double>());
  space->step = attributes.value("step", attributes.value("q", OrderedJson()));
}

OrderedJson SpaceJson(const Space& space) {
  const auto number = [&](double value) {
    return space.whole ? OrderedJson(static_cast<int64_t>(value)) : OrderedJson(value);
  };
  if (space.list) return {{"space", "choice"}, {"categories", space.choices}};
  if (space.low == space.high) {
    return {{"space", "choice"}, {"categories", {number(space.low)}}};
  }
  OrderedJson json = {{"space", space.whole ? "int" : "float"},
                      {"lower", number(space.low)},
                      {"upper", number(space.high)}};
  if (space.log) json["log"] = true;
  if (!space.step.is_null() && !(space.whole && space.step == 1)) {
    json["step"] = space.step;
  }
  return json;
}

ParamValue ValueOf(const OrderedJson& distribution, double internal_value) {
  const std::string name = distribution.at("name").get<std::string>();
  if (name == "CategoricalDistribution") {
    return ParamValueFromJson(distribution.at("attributes")
                                  .at("choices")
                                  .at(static_cast<size_t>(internal_value)));
  }
  if (name.starts_with("Int")) return static_cast<int64_t>(internal_value);
  return internal_value;
}

// ---- trials ----

// Local time without a zone.
WallTime WallOf(const std::string& text) {
  std::tm local = {};
  const char* rest = strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &local);
  if (rest == nullptr) return 0;
  local.tm_isdst = -1;
  const double fraction = *rest == '.' ? std::strtod(rest, nullptr) : 0;
  return static_cast<double>(std::mktime(&local)) + fraction;
}

double NumberOf(const DbCell& value, const std::string& type) {
  if (type == "INF_POS") return std::numeric_limits<double>::infinity();
  if (type == "INF_NEG") return -std::numeric_limits<double>::infinity();
  return type == "NAN" ? std::nan("") : RealOf(value);
}

void TakeState(const std::string& state, ImportedTrial* trial) {
  if (state == "COMPLETE") return;
  if (state == "PRUNED") {
    trial->state = TrialState::kStopped;
    trial->reason = Reason::kPruned;
  } else if (state == "FAIL") {
    trial->state = TrialState::kFailed;
    trial->detail = "failed, says Optuna";
  } else {
    trial->state = TrialState::kStopped;
    trial->reason = Reason::kUser;
    trial->detail = "was not over when it was imported";
  }
}

using TrialsById = std::map<int64_t, ImportedTrial>;

std::string OfTrials(int64_t study, const char* what, const char* table) {
  return fmt::format(
      "SELECT {} FROM {} x JOIN trials t ON x.trial_id = t.trial_id "
      "WHERE t.study_id = {} AND t.state != 'WAITING' ORDER BY x.rowid",
      what,
      table,
      study);
}

TrialsById ReadTrials(ForeignDb* db, int64_t study) {
  TrialsById trials;
  for (const DbRow& row : db->Query(fmt::format(
           "SELECT trial_id, state, datetime_start, datetime_complete FROM trials "
           "WHERE study_id = {} AND state != 'WAITING'",
           study))) {
    ImportedTrial& trial = trials[IntegerOf(row[0])];
    TakeState(TextOf(row[1]), &trial);
    trial.started = WallOf(TextOf(row[2]));
    trial.ended = WallOf(TextOf(row[3]));
  }
  return trials;
}

void ReadParams(ForeignDb* db,
                int64_t study,
                TrialsById* trials,
                ImportedSweep* sweep) {
  std::map<std::string, Space> spaces;
  std::map<std::string, OrderedJson> parsed;  // most trials have the same
  for (const DbRow& row :
       db->Query(OfTrials(study,
                          "x.trial_id, param_name, param_value, distribution_json",
                          "trial_params"))) {
    const std::string name = TextOf(row[1]), text = TextOf(row[3]);
    const auto [distribution, fresh] = parsed.try_emplace(text);
    if (fresh) distribution->second = ParseJson(text);
    Widen(distribution->second, &spaces[name]);
    trials->at(IntegerOf(row[0])).params[name] =
        ValueOf(distribution->second, RealOf(row[2]));
  }
  OrderedJson parameters = OrderedJson::object();
  for (const auto& [name, space] : spaces) parameters[name] = SpaceJson(space);
  sweep->parameters = DumpJson(parameters);
}

void ReadValues(ForeignDb* db,
                int64_t study,
                const std::string& metric,
                TrialsById* all) {
  for (const DbRow& row : db->Query(
           OfTrials(study,
                    "x.trial_id, step, intermediate_value, intermediate_value_type",
                    "trial_intermediate_values"))) {
    all->at(IntegerOf(row[0])).reports[IntegerOf(row[1])][metric] =
        NumberOf(row[2], TextOf(row[3]));
  }
  for (const DbRow& row : db->Query(OfTrials(
           study, "x.trial_id, value, value_type, objective", "trial_values"))) {
    if (IntegerOf(row[3]) != 0) continue;
    all->at(IntegerOf(row[0])).value = NumberOf(row[1], TextOf(row[2]));
  }
  for (const DbRow& row : db->Query(OfTrials(
           study, "x.trial_id, \"key\", value_json", "trial_user_attributes"))) {
    const auto json = OrderedJson::parse(TextOf(row[2]), nullptr, false);
    if (!json.is_string()) continue;
    ImportedTrial& trial = all->at(IntegerOf(row[0]));
    const auto text = json.get<std::string>();
    // What an export of ours has left.
    if (TextOf(row[1]) == "hyperopt:detail") trial.detail = text;
    if (TextOf(row[1]) == "hyperopt:reason") {
      trial.reason = ReasonFromString(text).value_or(trial.reason);
    }
  }
}

}  // namespace

ImportedSweep ImportOptuna(const std::filesystem::path& file,
                           const std::string& study) {
  ForeignDb db(file, ForeignDb::How::kReadOnly);
  if (!db.HasTable("studies") || !db.HasTable("trial_intermediate_values")) {
    throw ConfigError(file.string() + ": this is no storage of Optuna");
  }
  const std::string revision =
      db.HasTable("alembic_version")
          ? TextOf(db.Query("SELECT version_num FROM alembic_version").at(0).at(0))
          : "none";
  if (revision < "v3.0.0.d" || revision > "v9") {
    throw ConfigError(
        fmt::format("{}: its tables are of another version of Optuna ({}; {} is read); "
                    "bring them up to date with: optuna storage upgrade",
                    file.string(),
                    revision,
                    kOptunaRevision));
  }
  ImportedSweep sweep;
  sweep.from = "Optuna";
  try {
    const int64_t id = StudyOf(&db, study, &sweep.name);
    TakeGoal(&db, id, &sweep);
    TrialsById trials = ReadTrials(&db, id);
    ReadParams(&db, id, &trials, &sweep);
    ReadValues(&db, id, sweep.metric, &trials);
    for (auto& [key, trial] : trials) sweep.trials.push_back(std::move(trial));
  } catch (const nlohmann::json::exception& error) {
    throw ConfigError(fmt::format(
        "{}: a distribution can not be read: {}", file.string(), error.what()));
  } catch (const std::out_of_range&) {
    throw ConfigError(file.string() + ": it names trials that are not in it");
  }
  return sweep;
}

}  // namespace hyperopt

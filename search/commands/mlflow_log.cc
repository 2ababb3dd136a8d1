#include "search/commands/mlflow_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "search/internal/mlflow_answer.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

// Of one request, by MLflow's rules: 1000 of all together.
constexpr size_t kMostMetrics = 800;
constexpr size_t kMostParams = 100;
constexpr size_t kMostText = 5000;
constexpr int kPageOfRuns = 1000;
constexpr int kBadRequest = 400;

constexpr char kSweepTag[] = "hyperopt.sweep";
constexpr char kTrialTag[] = "hyperopt.trial";
constexpr char kLoggedTag[] = "hyperopt.logged";
constexpr char kStateTag[] = "hyperopt.state";

int64_t Milliseconds(WallTime time) { return static_cast<int64_t>(time * 1000); }

const char* StatusOf(TrialState state) {
  switch (state) {
    case TrialState::kCompleted:
      return "FINISHED";
    case TrialState::kStopped:
      return "KILLED";
    case TrialState::kFailed:
      return "FAILED";
    case TrialState::kRunning:
      return "RUNNING";
    default:
      return "SCHEDULED";
  }
}

OrderedJson Pair(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", value.substr(0, kMostText)}};
}

}  // namespace

MlflowLog::MlflowLog(LoggedSweep sweep,
                     const std::string& experiment,
                     MlflowClient* client)
    : sweep_(std::move(sweep)),
      experiment_name_(experiment),
      client_(client),
      experiment_(client->ExperimentId(experiment)) {
  FindRuns();
}

// What was logged of this sweep before.
void MlflowLog::FindRuns() {
  OrderedJson query = {
      {"experiment_ids", {experiment_}},
      {"filter", fmt::format("tags.`{}` = '{}'", kSweepTag, sweep_.id)},
      {"run_view_type", "ALL"},
      {"max_results", kPageOfRuns}};
  while (true) {
    const OrderedJson page = client_->Post("runs/search", query);
    const std::string next = ReadMlflow([&] {
      for (const OrderedJson& run : page.value("runs", OrderedJson::array())) {
        Learn(run);
      }
      return page.value("next_page_token", std::string());
    });
    if (next.empty()) return;
    query["page_token"] = next;
  }
}

void MlflowLog::Learn(const OrderedJson& run) {
  std::map<std::string, std::string> tags;
  for (const OrderedJson& tag : run.at("data").value("tags", OrderedJson::array())) {
    tags[tag.at("key").get<std::string>()] = tag.at("value").get<std::string>();
  }
  const OrderedJson& info = run.at("info");
  KnownRun& known = runs_[tags[kTrialTag]];
  known.id = info.at("run_id").get<std::string>();
  known.deleted = info.value("lifecycle_stage", "active") != "active";
  known.has_params = tags.contains(kLoggedTag);
  known.logged = std::strtoul(tags[kLoggedTag].c_str(), nullptr, 10);
  known.state = tags[kStateTag];
}

void MlflowLog::Put(const LoggedTrial& trial) {
  try {
    KnownRun& run = runs_[std::to_string(trial.row.id.value())];
    if (run.id.empty()) Create(trial, &run);
    if (!run.deleted) Bring(trial, &run);
  } catch (const MlflowRefusal& refusal) {
    if (refusal.status() != kBadRequest) throw;
    throw RefusedTrial(
        fmt::format("trial {}: {}", trial.row.id.value(), refusal.what()));
  }
}

void MlflowLog::Create(const LoggedTrial& trial, KnownRun* run) {
  const TrialRow& row = trial.row;
  const std::string number = std::to_string(row.id.value());
  const OrderedJson made = client_->Post(
      "runs/create",
      {{"experiment_id", experiment_},
       {"run_name", "trial " + number},
       {"start_time", Milliseconds(row.started > 0 ? row.started : row.created)},
       {"tags",
        {Pair(kSweepTag, sweep_.id),
         Pair(kTrialTag, number),
         Pair("hyperopt.executor", trial.executor),
         Pair("hyperopt.folder", std::filesystem::absolute(sweep_.dir).string())}}});
  run->id = ReadMlflow(
      [&] { return made.at("run").at("info").at("run_id").get<std::string>(); });
}

// The tag of the state comes last: where that is not reached, all of it is done again.
void MlflowLog::Bring(const LoggedTrial& trial, KnownRun* run) {
  const TrialRow& row = trial.row;
  const std::string state(ToString(row.state));
  OrderedJson tags = OrderedJson::array();
  if (run->state != state) {
    OrderedJson update = {{"run_id", run->id}, {"status", StatusOf(row.state)}};
    if (row.ended > 0) update["end_time"] = Milliseconds(row.ended);
    client_->Post("runs/update", update);
    tags = {Pair(kStateTag, state),
            Pair("hyperopt.reason", std::string(ToString(row.reason))),
            Pair("hyperopt.detail", row.detail)};
  }
  LogRest(trial, std::move(tags), run);
  run->state = state;
}

// How much is there goes along with it in one request, so that an end between two of
// them neither loses nor doubles a value.
void MlflowLog::LogRest(const LoggedTrial& trial,
                        OrderedJson last_tags,
                        KnownRun* run) {
  const std::vector<LoggedValue>& values = trial.values;
  auto param = run->has_params ? trial.params.end() : trial.params.begin();
  bool complete = run->has_params && run->logged >= values.size() && last_tags.empty();
  while (!complete) {
    OrderedJson params = OrderedJson::array(), metrics = params, tags = params;
    for (; param != trial.params.end() && params.size() < kMostParams; ++param) {
      params.push_back(Pair(MlflowName(param->first), ToWord(param->second)));
    }
    const bool has_params = param == trial.params.end();
    size_t end = run->logged;
    for (; has_params && end < values.size() && metrics.size() < kMostMetrics; ++end) {
      metrics.push_back({{"key", MlflowName(values[end].field)},
                         {"value", NumberToJson(values[end].value)},
                         {"timestamp", Milliseconds(values[end].wall)},
                         {"step", values[end].step}});
    }
    complete = has_params && end >= values.size();
    if (complete) tags = std::move(last_tags);
    if (has_params) tags.push_back(Pair(kLoggedTag, std::to_string(end)));
    client_->Post("runs/log-batch",
                  {{"run_id", run->id},
                   {"params", std::move(params)},
                   {"metrics", std::move(metrics)},
                   {"tags", std::move(tags)}});
    run->has_params = has_params;
    run->logged = end;
  }
}

std::string MlflowLog::Where() const {
  return fmt::format(
      "experiment {} (id {})", MlflowName(experiment_name_), experiment_);
}

}  // namespace hyperopt

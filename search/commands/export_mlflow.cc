// MLflow: an experiment named as the sweep, a run a trial, with parameters, every
// reported value and what the record says of it as tags.
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "search/commands/export.h"
#include "search/commands/export_common.h"
#include "search/commands/export_curves.h"
#include "search/commands/mlflow_client.h"
#include "search/status.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

// Of one request, by MLflow's rules.
constexpr size_t kMostMetrics = 1000;
constexpr size_t kMostParams = 100;
constexpr size_t kMostText = 5000;
constexpr int kPageOfRuns = 1000;

constexpr char kSweepTag[] = "hyperopt.sweep";
constexpr char kTrialTag[] = "hyperopt.trial";
// So many values of this trial, in the order of LoggedValuesOf, are logged already.
constexpr char kLoggedTag[] = "hyperopt.logged";
constexpr char kStateTag[] = "hyperopt.state";

struct KnownRun {
  std::string id;
  size_t logged = 0;
  std::string state;
};

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

class MlflowExport {
 public:
  MlflowExport(const RecordedSweep& sweep, MlflowClient* client)
      : sweep_(sweep), client_(client) {
    experiment_ = client_->ExperimentId(sweep.record.sweep.name);
    FindRuns();
  }

  void Put(const TrialRecord& trial) {
    KnownRun& run = runs_[std::to_string(trial.row->id.value())];
    if (run.id.empty()) Create(trial, &run);
    LogValues(trial, &run);
    const std::string state(ToString(trial.row->state));
    if (run.state == state) return;
    OrderedJson update = {{"run_id", run.id}, {"status", StatusOf(trial.row->state)}};
    if (trial.row->ended > 0) update["end_time"] = Milliseconds(trial.row->ended);
    client_->Post("runs/update", update);
    SetTags(run,
            {Pair(kStateTag, state),
             Pair("hyperopt.reason", std::string(ToString(trial.row->reason))),
             Pair("hyperopt.detail", trial.row->detail)});
  }

  size_t count() const { return runs_.size(); }
  const std::string& experiment() const { return experiment_; }

 private:
  // What an earlier export of this sweep has left.
  void FindRuns() {
    OrderedJson query = {
        {"experiment_ids", {experiment_}},
        {"filter", fmt::format("tags.`{}` = '{}'", kSweepTag, sweep_.record.sweep.id)},
        {"max_results", kPageOfRuns}};
    while (true) {
      const OrderedJson page = client_->Post("runs/search", query);
      for (const OrderedJson& run : page.value("runs", OrderedJson::array()))
        Learn(run);
      const std::string next = page.value("next_page_token", "");
      if (next.empty()) return;
      query["page_token"] = next;
    }
  }

  void Learn(const OrderedJson& run) {
    std::map<std::string, std::string> tags;
    for (const OrderedJson& tag : run.at("data").value("tags", OrderedJson::array())) {
      tags[tag.at("key").get<std::string>()] = tag.at("value").get<std::string>();
    }
    runs_[tags[kTrialTag]] = {run.at("info").at("run_id").get<std::string>(),
                              std::strtoul(tags[kLoggedTag].c_str(), nullptr, 10),
                              tags[kStateTag]};
  }

  void Create(const TrialRecord& trial, KnownRun* run) {
    const TrialRow& row = *trial.row;
    const std::string number = std::to_string(row.id.value());
    const OrderedJson made = client_->Post(
        "runs/create",
        {{"experiment_id", experiment_},
         {"run_name", "trial " + number},
         {"start_time", Milliseconds(row.started > 0 ? row.started : row.created)},
         {"tags",
          {Pair(kSweepTag, sweep_.record.sweep.id),
           Pair(kTrialTag, number),
           Pair("hyperopt.executor", trial.executor),
           Pair("hyperopt.folder", std::filesystem::absolute(sweep_.dir).string())}}});
    run->id = made.at("run").at("info").at("run_id").get<std::string>();
    OrderedJson params = OrderedJson::array();
    for (const auto& [name, value] : trial.params) {
      params.push_back(Pair(MlflowName(name), ToWord(value)));
      if (params.size() == kMostParams) LogParams(*run, &params);
    }
    LogParams(*run, &params);
  }

  void LogParams(const KnownRun& run, OrderedJson* params) {
    if (params->empty()) return;
    client_->Post("runs/log-batch", {{"run_id", run.id}, {"params", *params}});
    *params = OrderedJson::array();
  }

  void LogValues(const TrialRecord& trial, KnownRun* run) {
    const std::vector<LoggedValue> values =
        LoggedValuesOf(sweep_.store->LoadReports(trial.row->id));
    while (run->logged < values.size()) {
      OrderedJson metrics = OrderedJson::array();
      const size_t end = std::min(values.size(), run->logged + kMostMetrics);
      for (size_t i = run->logged; i < end; ++i) {
        metrics.push_back({{"key", MlflowName(values[i].field)},
                           {"value", NumberToJson(values[i].value)},
                           {"timestamp", Milliseconds(values[i].wall)},
                           {"step", values[i].step}});
      }
      client_->Post("runs/log-batch", {{"run_id", run->id}, {"metrics", metrics}});
      run->logged = end;
      SetTags(*run, {Pair(kLoggedTag, std::to_string(end))});
    }
  }

  void SetTags(const KnownRun& run, OrderedJson tags) {
    client_->Post("runs/log-batch", {{"run_id", run.id}, {"tags", std::move(tags)}});
  }

  const RecordedSweep& sweep_;
  MlflowClient* client_;
  std::string experiment_;
  std::map<std::string, KnownRun> runs_;  // by the trial's number
};

}  // namespace

std::string ExportMlflow(const RecordedSweep& sweep, const std::string& uri) {
  const char* from_environment = std::getenv("MLFLOW_TRACKING_URI");
  MlflowClient client(!uri.empty() || from_environment == nullptr ? uri
                                                                  : from_environment);
  MlflowExport exported(sweep, &client);
  ForEachTrial(sweep, [&](const TrialRecord& trial) { exported.Put(trial); });
  return fmt::format("{} runs in experiment {} (id {})",
                     exported.count(),
                     MlflowName(sweep.record.sweep.name),
                     exported.experiment());
}

}  // namespace hyperopt

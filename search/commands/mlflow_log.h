// A sweep on an MLflow server: a run a trial with parameters, every reported value, and
// what the record says of it as tags.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "search/commands/mlflow_client.h"
#include "search/commands/trial_log.h"
#include "trial/json.h"

namespace hyperopt {

class MlflowLog : public TrialLog {
 public:
  // Asks the server what it has of this sweep; `experiment` is made where it is not
  // there. Throws EnvironmentError. `client` must outlive it.
  MlflowLog(LoggedSweep sweep, const std::string& experiment, MlflowClient* client);

  // A run that somebody deleted there stays deleted.
  void Put(const LoggedTrial& trial) override;
  std::string Where() const override;
  size_t runs() const { return runs_.size(); }

 private:
  struct KnownRun {
    std::string id;
    bool deleted = false;
    // So many values, in the order of LoggedValuesOf, are there; the parameters came
    // with the first.
    bool has_params = false;
    size_t logged = 0;
    std::string state;
  };

  void FindRuns();
  void Learn(const OrderedJson& run);
  void Create(const LoggedTrial& trial, KnownRun* run);
  void Bring(const LoggedTrial& trial, KnownRun* run);
  // What of parameters and values is not there; `last_tags` go with the last of it.
  void LogRest(const LoggedTrial& trial, OrderedJson last_tags, KnownRun* run);

  const LoggedSweep sweep_;
  const std::string experiment_name_;
  MlflowClient* client_;
  std::string experiment_;
  std::map<std::string, KnownRun> runs_;  // by the trial's number
};

}  // namespace hyperopt

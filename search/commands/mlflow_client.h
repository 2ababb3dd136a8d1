// The part of MLflow's REST API that logs runs (mlflow.org/docs, "REST API", 2.0).
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {

// The server answers, and the answer is no.
class MlflowRefusal : public EnvironmentError {
 public:
  MlflowRefusal(int status, const std::string& what)
      : EnvironmentError(what), status_(status) {}
  int status() const { return status_; }  // of HTTP

 private:
  int status_;
};

// Calls block. Each throws EnvironmentError where the server can not be reached, stands
// still or says nonsense, MlflowRefusal where it refuses, with its own words.
class MlflowClient {
 public:
  // `uri` as http://127.0.0.1:5000 or https://host/path. MLFLOW_TRACKING_TOKEN, or
  // MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, are sent where they are set.
  // It is silent for `patience_s` at most. Throws ConfigError where it is no such
  // address.
  explicit MlflowClient(const std::string& uri, int patience_s = 60);
  ~MlflowClient();

  // `name` as "runs/create".
  OrderedJson Post(const std::string& name, const OrderedJson& body);
  // The experiment's id; made where there is none of that name.
  std::string ExperimentId(const std::string& name);

 private:
  struct Connection;
  const std::unique_ptr<Connection> connection_;
};

// A name as MLflow allows it for parameters and metrics: what it refuses becomes `_`.
std::string MlflowName(const std::string& name);

}  // namespace hyperopt

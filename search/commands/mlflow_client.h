// The part of MLflow's REST API that logs runs (mlflow.org/docs, "REST API", 2.0).
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trial/json.h"

namespace hyperopt {

// Calls block. Each throws EnvironmentError where the server can not be reached or
// refuses, with its own words.
class MlflowClient {
 public:
  // `uri` as http://127.0.0.1:5000 or https://host/path. MLFLOW_TRACKING_TOKEN, or
  // MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, are sent where they are set.
  // Throws ConfigError where it is no such address.
  explicit MlflowClient(const std::string& uri);
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

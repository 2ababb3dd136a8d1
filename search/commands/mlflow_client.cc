#include "search/commands/mlflow_client.h"

#include <fmt/format.h>
#include <httplib.h>

#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "trial/errors.h"

namespace hyperopt {
namespace {

constexpr int kConnect_s = 10;
constexpr int kAnswer_s = 60;

std::string EnvironmentText(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

struct Address {
  std::string server, path;
};

Address AddressOf(const std::string& uri) {
  const size_t scheme = uri.find("://");
  if (!uri.starts_with("http://") && !uri.starts_with("https://")) {
    throw ConfigError(fmt::format(
        "--uri {}: write the server's address, as in --uri http://127.0.0.1:5000",
        uri.empty() ? "(none)" : uri));
  }
  const size_t slash = uri.find('/', scheme + 3);
  Address address{uri.substr(0, slash),
                  slash == std::string::npos ? "" : uri.substr(slash)};
  while (address.path.ends_with('/')) address.path.pop_back();
  return address;
}

}  // namespace

struct MlflowClient::Connection {
  explicit Connection(const Address& address)
      : path(address.path), http(address.server) {}
  const std::string path;
  httplib::Client http;
};

MlflowClient::MlflowClient(const std::string& uri)
    : connection_(std::make_unique<Connection>(AddressOf(uri))) {
  httplib::Client& http = connection_->http;
  http.set_connection_timeout(kConnect_s);
  http.set_read_timeout(kAnswer_s);
  http.set_write_timeout(kAnswer_s);
  http.set_keep_alive(true);
  const std::string token = EnvironmentText("MLFLOW_TRACKING_TOKEN");
  const std::string user = EnvironmentText("MLFLOW_TRACKING_USERNAME");
  if (!token.empty()) {
    http.set_bearer_token_auth(token);
  } else if (!user.empty()) {
    http.set_basic_auth(user, EnvironmentText("MLFLOW_TRACKING_PASSWORD"));
  }
}

MlflowClient::~MlflowClient() = default;

OrderedJson MlflowClient::Post(const std::string& name, const OrderedJson& body) {
  const httplib::Result result =
      connection_->http.Post(connection_->path + "/api/2.0/mlflow/" + name,
                             DumpJson(body),
                             "application/json");
  if (!result) {
    throw EnvironmentError(fmt::format("the MLflow server does not answer ({}): {}",
                                       name,
                                       httplib::to_string(result.error())));
  }
  OrderedJson answer = OrderedJson::parse(result->body, nullptr, false);
  if (result->status != 200) {
    const std::string words =
        answer.is_object() ? answer.value("message", result->body) : result->body;
    throw EnvironmentError(fmt::format(
        "the MLflow server refuses {} ({}): {}", name, result->status, words));
  }
  if (!answer.is_object()) {
    throw EnvironmentError("what answers there is no MLflow server");
  }
  return answer;
}

std::string MlflowClient::ExperimentId(const std::string& name) {
  const OrderedJson found =
      Post("experiments/search",
           {{"max_results", 1},
            {"view_type", "ALL"},
            {"filter", fmt::format("name = '{}'", MlflowName(name))}});
  if (found.contains("experiments") && !found["experiments"].empty()) {
    const OrderedJson& experiment = found["experiments"][0];
    if (experiment.value("lifecycle_stage", "active") != "active") {
      throw EnvironmentError(fmt::format(
          "the experiment {} was deleted on the MLflow server; restore it there, or "
          "delete it for good (mlflow gc)",
          MlflowName(name)));
    }
    return experiment.at("experiment_id").get<std::string>();
  }
  return Post("experiments/create", {{"name", MlflowName(name)}})
      .at("experiment_id")
      .get<std::string>();
}

std::string MlflowName(const std::string& name) {
  std::string allowed;
  for (const char c : name) {
    const bool fine = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
                      c == '-' || c == '.' || c == ' ' || c == '/';
    allowed += fine ? c : '_';
  }
  // It is also a path there: not absolute, nothing empty or upwards in it.
  for (const char* bad : {"//", "/./", "/../"}) {
    for (size_t at = 0; (at = allowed.find(bad)) != std::string::npos;) {
      allowed[at] = '_';
    }
  }
  if (allowed.starts_with('/') || allowed.starts_with('.')) allowed[0] = '_';
  if (allowed.ends_with('/') || allowed.ends_with('.')) allowed.back() = '_';
  return allowed.empty() ? "_" : allowed;
}

}  // namespace hyperopt

#include "search/commands/mlflow_client.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "search/internal/mlflow_answer.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

constexpr int kConnect_s = 10;
constexpr size_t kMostAnswer = 64 << 20;

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
        "{}: write the MLflow server's address, as in --uri http://127.0.0.1:5000",
        uri.empty() ? "--uri is missing" : uri));
  }
  const size_t slash = uri.find('/', scheme + 3);
  Address address{uri.substr(0, slash),
                  slash == std::string::npos ? "" : uri.substr(slash)};
  while (address.path.ends_with('/')) address.path.pop_back();
  return address;
}

// A page of HTML is shortened: it may be what any server answers.
std::string WordsOf(const OrderedJson& answer, const std::string& text) {
  if (answer.is_object() && answer.contains("message") &&
      answer["message"].is_string()) {
    return answer["message"].get<std::string>();
  }
  constexpr size_t kMostWords = 300;
  return text.substr(0, kMostWords);
}

}  // namespace

struct MlflowClient::Connection {
  explicit Connection(const Address& address)
      : server(address.server), path(address.path), http(address.server) {}
  const std::string server, path;
  httplib::Client http;
};

MlflowClient::MlflowClient(const std::string& uri, int patience_s)
    : connection_(std::make_unique<Connection>(AddressOf(uri))) {
  httplib::Client& http = connection_->http;
  http.set_connection_timeout(std::min(kConnect_s, patience_s));
  http.set_read_timeout(patience_s);
  http.set_write_timeout(patience_s);
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
  std::string text;
  httplib::Request request;
  request.method = "POST";
  request.path = connection_->path + "/api/2.0/mlflow/" + name;
  request.set_header("Content-Type", "application/json");
  request.body = DumpJson(body);
  request.content_receiver = [&](const char* piece, size_t size, uint64_t, uint64_t) {
    text.append(piece, size);
    return text.size() <= kMostAnswer;
  };
  const httplib::Result result = connection_->http.send(request);
  if (!result) {
    throw EnvironmentError(
        fmt::format("the MLflow server at {}{} does not answer ({}: {})",
                    connection_->server,
                    connection_->path,
                    name,
                    httplib::to_string(result.error())));
  }
  OrderedJson answer = OrderedJson::parse(text, nullptr, false);
  if (result->status != 200) {
    throw MlflowRefusal(result->status,
                        fmt::format("the MLflow server refuses {} ({}): {}",
                                    name,
                                    result->status,
                                    WordsOf(answer, text)));
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
  return ReadMlflow([&] {
    if (!found.contains("experiments") || found["experiments"].empty()) {
      return Post("experiments/create", {{"name", MlflowName(name)}})
          .at("experiment_id")
          .get<std::string>();
    }
    const OrderedJson& experiment = found["experiments"].at(0);
    if (experiment.value("lifecycle_stage", "active") != "active") {
      throw EnvironmentError(fmt::format(
          "the experiment {} was deleted on the MLflow server; restore it there, or "
          "delete it for good (mlflow gc)",
          MlflowName(name)));
    }
    return experiment.at("experiment_id").get<std::string>();
  });
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

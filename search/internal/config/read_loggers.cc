// `loggers`: where what trials report goes while the sweep runs.
#include <fmt/format.h>

#include <algorithm>

#include "search/internal/config/readers.h"

namespace hyperopt::internal {
namespace {

std::optional<std::string> ProblemWithUri(const std::string& uri) {
  const size_t scheme = uri.find("://");
  if (!uri.starts_with("http://") && !uri.starts_with("https://")) {
    return "must be the address of an MLflow server, as http://127.0.0.1:5000";
  }
  const std::string host =
      uri.substr(scheme + 3, uri.find('/', scheme + 3) - scheme - 3);
  if (host.find('@') != host.npos) {
    return "must not hold a password, which would stand in the record: set "
           "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD";
  }
  if (host.empty() || host.starts_with(':')) return "lacks the server's name";
  if (uri.find_first_of("?# \t") != uri.npos) {
    return "must be a plain address, without ? and #";
  }
  return std::nullopt;
}

// A name stands for a map of nothing but `type`.
Value AsMap(const Value& given) {
  if (!given.is_string()) return given;
  Value map;
  map.kind = Value::Kind::kMap;
  map.place = given.place;
  map.entries.push_back({"type", given.place, given});
  return map;
}

std::optional<LoggerKind> ReadKind(Section& section) {
  const Value* type = section.Take("type");
  if (type == nullptr) {
    section.Fail("type", "is missing: tensorboard or mlflow");
    return std::nullopt;
  }
  if (type->text == "wandb") {
    section.Fail("type",
                 "hyperopt itself writes to tensorboard and mlflow; with `tracker: "
                 "wandb` the trials' own program logs there");
    return std::nullopt;
  }
  const auto name = section.Choice("type", {"tensorboard", "mlflow"});
  if (!name) return std::nullopt;
  return *name == "mlflow" ? LoggerKind::kMlflow : LoggerKind::kTensorboard;
}

void ReadOne(const Value& given, const std::string& path, Reading& reading) {
  const Value map = AsMap(given);
  if (!map.is_map()) {
    if (map.is_broken()) return;
    reading.problems.Add(
        given.place,
        path,
        fmt::format("must be tensorboard, mlflow, or a map as {{type: mlflow, uri: "
                    "http://127.0.0.1:5000}}, not {}",
                    Describe(given)));
    return;
  }
  Section section(&map, path, reading.problems);
  const auto kind = ReadKind(section);
  if (!kind) return;
  LoggerEntry entry;
  entry.kind = *kind;
  if (*kind == LoggerKind::kTensorboard) {
    const auto dir = section.Text("dir");
    if (dir) entry.dir = (reading.folder / *dir).lexically_normal();
  } else {
    entry.uri = section.Text("uri").value_or("");
    entry.experiment = section.Text("experiment").value_or("");
    if (!entry.uri.empty()) {
      if (const auto problem = ProblemWithUri(entry.uri)) section.Fail("uri", *problem);
    }
  }
  section.Finish();
  std::vector<LoggerEntry>& loggers = reading.config.loggers;
  if (std::ranges::find(loggers, entry) != loggers.end()) {
    reading.problems.Add(given.place, path, "stands there twice");
    return;
  }
  loggers.push_back(std::move(entry));
}

}  // namespace

void ReadLoggers(Section& top, Reading& reading) {
  const Value* value = top.Take("loggers");
  if (value == nullptr) return;
  if (!value->is_list()) ReadOne(*value, "loggers", reading);
  for (size_t i = 0; i < value->items.size(); ++i) {
    ReadOne(value->items[i], fmt::format("loggers.{}", i), reading);
  }
}

}  // namespace hyperopt::internal

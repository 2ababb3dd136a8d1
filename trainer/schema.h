// What the built-in trainer understands of a Ludwig model config. Without LibTorch, so
// that a config is checked in milliseconds.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hyperopt {

// One thing that is wrong with a config. `path` is the dotted place of the key, list
// items by number (`input_features.2.encoder.type`); empty for the config as a whole.
struct SchemaError {
  std::string path;
  std::string message;

  bool operator==(const SchemaError&) const = default;
};

// All errors of a model config at once, in the order of the sections; empty where it
// can be trained (the data may still not fit). Keys of a search file that are not the
// model's (`hyperopt`, `backend`, `name` and the like) are ignored.
std::vector<SchemaError> ValidateModelConfig(const nlohmann::ordered_json& config);

// Dotted names of every key that the trainer understands, sorted. Items of lists are
// written with `*` and the types of features in `defaults` are spelled out:
// `input_features.*.encoder.type`, `defaults.number.preprocessing.normalization`.
std::vector<std::string> UnderstoodKeys();

// The metrics that an output feature of this type (number, category, binary) is
// measured by, `loss` first; empty for any other type.
std::vector<std::string> MetricNames(std::string_view output_type);

// Every field a report line of this config can carry besides `step`: for each split and
// output feature `<split>.<feature>.<metric>`, then `<split>.combined.loss`, then the
// plain names. REQUIRES: ValidateModelConfig(config) is empty.
std::vector<std::string> ReportedFields(const nlohmann::ordered_json& config);

enum class MetricGoal { kMinimize, kMaximize };

// Whether a metric of MetricNames is better when it is smaller or larger.
MetricGoal GoalOfMetric(std::string_view metric);

}  // namespace hyperopt

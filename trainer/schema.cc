#include "trainer/schema.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "trainer/model_config.h"

namespace hyperopt {

std::vector<SchemaError> ValidateModelConfig(const nlohmann::ordered_json& config) {
  std::vector<SchemaError> errors;
  ParseModelConfig(config, errors);
  return errors;
}

std::vector<std::string> MetricNames(std::string_view output_type) {
  if (output_type == "number") {
    return {"loss",
            "mean_squared_error",
            "mean_absolute_error",
            "root_mean_squared_error",
            "r2"};
  }
  if (output_type == "category") return {"loss", "accuracy", "hits_at_k", "roc_auc"};
  if (output_type == "binary") {
    return {"loss", "accuracy", "roc_auc", "precision", "recall", "specificity"};
  }
  return {};
}

MetricGoal GoalOfMetric(std::string_view metric) {
  const bool smaller = metric == "loss" || metric.ends_with("_error");
  return smaller ? MetricGoal::kMinimize : MetricGoal::kMaximize;
}

std::vector<std::string> ReportedFields(const nlohmann::ordered_json& json) {
  std::vector<SchemaError> errors;
  const ModelConfig config = ParseModelConfig(json, errors);
  std::vector<std::string> fields;
  std::vector<std::string> plain = {"loss"};
  std::set<std::string> seen = {"loss"};
  for (const char* split : {"train", "validation", "test"}) {
    for (const OutputFeature& feature : config.outputs) {
      for (const std::string& metric : MetricNames(FeatureTypeName(feature.type))) {
        fields.push_back(fmt::format("{}.{}.{}", split, feature.name, metric));
        if (seen.insert(metric).second) plain.push_back(metric);
      }
    }
    fields.push_back(fmt::format("{}.combined.loss", split));
  }
  fields.insert(fields.end(), plain.begin(), plain.end());
  return fields;
}

}  // namespace hyperopt

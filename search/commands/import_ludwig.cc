#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "search/commands/import.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

constexpr const char* kSplits[] = {"training", "validation", "test"};

using Curve = std::vector<double>;
using Curves = std::map<std::string, Curve>;  // by field

// Ludwig writes "nan" for one. nullopt where it is no number.
std::optional<double> NumberOf(const OrderedJson& json) {
  if (json.is_number()) return json.get<double>();
  // [epoch, step, value] in some versions.
  if (json.is_array() && json.size() == 3) return NumberOf(json[2]);
  if (!json.is_string()) return std::nullopt;
  const std::string text = json.get<std::string>();
  if (text == "nan" || text == "NaN") return std::nan("");
  if (text == "inf" || text == "Infinity") {
    return std::numeric_limits<double>::infinity();
  }
  if (text == "-inf" || text == "-Infinity") {
    return -std::numeric_limits<double>::infinity();
  }
  return std::nullopt;
}

// {feature: {metric: [value, ...]}}, a value an evaluation.
void TakeCurves(const OrderedJson& features, const std::string& split, Curves* curves) {
  if (!features.is_object()) return;
  for (const auto& [feature, metrics] : features.items()) {
    if (!metrics.is_object()) continue;
    for (const auto& [metric, values] : metrics.items()) {
      if (!values.is_array()) continue;
      Curve curve;
      for (const OrderedJson& value : values) {
        const std::optional<double> number = NumberOf(value);
        if (!number) break;
        curve.push_back(*number);
      }
      if (!curve.empty()) (*curves)[split + '.' + feature + '.' + metric] = curve;
    }
  }
}

// training_stats with a level for the split, or, in early versions, that of the
// training rows alone; then eval_stats holds curves of the validation rows.
Curves CurvesOf(const OrderedJson& result) {
  Curves curves;
  const OrderedJson stats = result.value("training_stats", OrderedJson::object());
  bool split_level = false;
  for (const char* split : kSplits) {
    if (!stats.is_object() || !stats.contains(split)) continue;
    split_level = true;
    TakeCurves(stats[split], split, &curves);
  }
  if (!split_level) TakeCurves(stats, "training", &curves);
  TakeCurves(result.value("eval_stats", OrderedJson::object()), "validation", &curves);
  return curves;
}

ImportedTrial TrialOf(const OrderedJson& result,
                      const std::string& metric,
                      const std::string& feature) {
  ImportedTrial trial;
  for (const auto& [name, value] : result.at("parameters").items()) {
    trial.params[name] = ParamValueFromJson(value);
  }
  const Curves curves = CurvesOf(result);
  for (const auto& [field, curve] : curves) {
    for (size_t i = 0; i < curve.size(); ++i) {
      trial.reports[static_cast<int64_t>(i) + 1][field] = curve[i];
    }
  }
  for (const char* split : {"validation", "training"}) {
    const auto curve = curves.find(fmt::format("{}.{}.{}", split, feature, metric));
    if (curve == curves.end()) continue;
    for (size_t i = 0; i < curve->second.size(); ++i) {
      trial.reports[static_cast<int64_t>(i) + 1][metric] = curve->second[i];
    }
    break;
  }
  trial.value = NumberOf(result.at("metric_score"));
  if (trial.value && std::isfinite(*trial.value)) return trial;
  trial.state = TrialState::kFailed;
  trial.reason = trial.value ? Reason::kNotFinite : Reason::kNoMetric;
  trial.detail = "its score is no number";
  return trial;
}

}  // namespace

ImportedSweep ImportLudwig(const OrderedJson& json) {
  ImportedSweep sweep;
  sweep.from = "Ludwig";
  try {
    const OrderedJson& config = json.at("hyperopt_config");
    sweep.metric = config.value("metric", "loss");
    if (config.value("goal", "minimize") == "maximize") sweep.goal = Goal::kMaximize;
    const std::string feature = config.value("output_feature", "combined");
    sweep.parameters = DumpJson(config.value("parameters", OrderedJson::object()));
    for (const OrderedJson& result : json.at("hyperopt_results")) {
      sweep.trials.push_back(TrialOf(result, sweep.metric, feature));
    }
  } catch (const nlohmann::json::exception& error) {
    throw ConfigError(fmt::format(
        "this is no hyperopt_statistics.json as Ludwig writes it: {}", error.what()));
  }
  return sweep;
}

}  // namespace hyperopt

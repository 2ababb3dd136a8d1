#include "search/report_time.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {

bool IsReportedTime(std::string_view attr) {
  return attr != "training_iteration" && attr != "step";
}

std::optional<double> FieldOf(const std::string& values, const std::string& name) {
  try {
    const OrderedJson json = ParseJson(values);
    const auto field = json.find(name);
    if (field != json.end() && field->is_number()) return field->get<double>();
    // A field that is NaN or infinite is a text, and no time.
    if (field != json.end()) return std::nan("");
  } catch (const ConfigError&) {
  }
  return std::nullopt;
}

int64_t WholeTime(double time) {
  constexpr double kRounding = 1e-9;
  if (!std::isfinite(time) || time < 0 || time > 9e15) return -1;
  return static_cast<int64_t>(std::floor(time + kRounding * std::max(1.0, time)));
}

}  // namespace hyperopt

#include "search/commands/export_curves.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "trial/json.h"

namespace hyperopt {
namespace {

// NaN and infinities stand as texts in the record.
std::optional<double> NumberOf(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  for (const double odd : {std::nan(""),
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    if (text == DoubleToText(odd)) return odd;
  }
  return std::nullopt;
}

struct Held {
  Attempt attempt;
  double value = 0;
  WallTime wall = 0;
};

}  // namespace

std::vector<LoggedValue> LoggedValuesOf(std::span<const ReportRow> reports) {
  std::map<std::pair<int64_t, std::string>, Held> held;
  for (const ReportRow& report : reports) {
    const auto fields = nlohmann::json::parse(report.values, nullptr, false);
    if (!fields.is_object()) continue;
    for (const auto& [field, json] : fields.items()) {
      const std::optional<double> value = NumberOf(json);
      if (!value || field == "step") continue;
      Held& at = held[{report.step, field}];
      if (report.key.attempt < at.attempt) continue;
      at = {report.key.attempt, *value, report.wall};
    }
  }
  std::vector<LoggedValue> values;
  for (auto& [place, at] : held) {
    values.push_back({place.second, place.first, at.value, at.wall});
  }
  return values;
}

}  // namespace hyperopt

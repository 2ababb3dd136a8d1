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

}  // namespace

std::vector<LoggedValue> LoggedValuesOf(std::span<const ReportRow> reports) {
  std::vector<LoggedValue> values;
  std::vector<Attempt> attempts;  // of each
  std::map<std::pair<int64_t, std::string>, size_t> places;
  for (const ReportRow& report : reports) {
    const auto fields = nlohmann::json::parse(report.values, nullptr, false);
    if (!fields.is_object()) continue;
    for (const auto& [field, json] : fields.items()) {
      const std::optional<double> value = NumberOf(json);
      if (!value || field == "step") continue;
      const auto [place, fresh] =
          places.try_emplace({report.step, field}, values.size());
      if (fresh) {
        values.emplace_back();
        attempts.emplace_back();
      }
      const size_t at = place->second;
      if (report.key.attempt < attempts[at]) continue;
      attempts[at] = report.key.attempt;
      values[at] = {field, report.step, *value, report.wall};
    }
  }
  return values;
}

}  // namespace hyperopt

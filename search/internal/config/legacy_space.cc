// Parameters in the spellings of Ludwig 0.4 and before, shown in today's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "search/internal/config/readers.h"
#include "trial/json.h"

namespace hyperopt::internal {
namespace {

bool IsLog(const Value& entry) {
  for (const char* key : {"scale", "space"}) {
    const Value* value = entry.Find(key);
    if (value != nullptr && value->text == "log") return true;
  }
  return false;
}

std::string TextOf(const Value& entry, std::string_view old_key, std::string_view key) {
  const Value* value = entry.Find(old_key);
  if (value == nullptr) value = entry.Find(key);
  return value != nullptr && value->is_number() ? value->text : "...";
}

std::string ListOf(const Value& entry) {
  for (const char* key : {"values", "categories"}) {
    const Value* value = entry.Find(key);
    if (value == nullptr || !value->is_list() || value->items.size() > 20) continue;
    std::vector<std::string> texts;
    for (const Value& item : value->items) {
      if (!item.is_scalar()) return "[...]";
      texts.push_back(item.is_string() ? item.text : Describe(item));
    }
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
  return "[...]";
}

// The values that the old grid ran through: `steps` of them from low to high.
std::optional<std::string> GridOf(const Value& entry, bool log, bool whole) {
  const Value* steps = entry.Find("steps");
  const Value* low = entry.Find("low");
  const Value* high = entry.Find("high");
  if (steps == nullptr || low == nullptr || high == nullptr) return std::nullopt;
  const auto count = AsInt(*steps);
  const auto from = AsNumber(*low);
  const auto to = AsNumber(*high);
  if (!count || *count < 2 || *count > 20 || !from || !to) return std::nullopt;
  if (log && (*from <= 0 || *to <= 0)) return std::nullopt;
  std::vector<std::string> values;
  for (int64_t i = 0; i < *count; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(*count - 1);
    double value = log ? *from * std::pow(*to / *from, t) : *from + t * (*to - *from);
    if (whole) value = std::round(value);
    std::string text = fmt::format("{:.6g}", value);
    if (std::ranges::find(values, text) == values.end()) values.push_back(text);
  }
  return fmt::format("{{space: grid_search, values: [{}]}} for a grid",
                     fmt::join(values, ", "));
}

}  // namespace

std::optional<std::string> ModernSpelling(const Value& entry) {
  constexpr std::array kOldKeys = {"low", "high", "steps", "scale"};
  const Value* type = entry.Find("type");
  const Value* space = entry.Find("space");
  const bool has_old_key = std::ranges::any_of(
      kOldKeys, [&entry](const char* key) { return entry.Find(key) != nullptr; });
  if (type == nullptr && !has_old_key) return std::nullopt;
  const std::string kind = type == nullptr ? "float" : type->text;
  const bool old_space = space == nullptr || space->text == "linear" ||
                         space->text == "log" || has_old_key;
  if (!old_space)
    return fmt::format("it without `type`: the space {} says it", space->text);
  if (kind == "category")
    return fmt::format("{{space: choice, categories: {}}}", ListOf(entry));
  if (kind != "float" && kind != "real" && kind != "int") return std::nullopt;
  const bool log = IsLog(entry);
  const bool whole = kind == "int";
  const std::string name = whole ? "int" : (log ? "loguniform" : "uniform");
  std::string text = fmt::format("{{space: {}, lower: {}, upper: {}{}}}",
                                 name,
                                 TextOf(entry, "low", "lower"),
                                 TextOf(entry, "high", "upper"),
                                 whole && log ? ", log: true" : "");
  if (const auto grid = GridOf(entry, log, whole)) text += ", or " + *grid;
  return text;
}

}  // namespace hyperopt::internal

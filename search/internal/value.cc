#include "search/internal/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "trial/json.h"

namespace hyperopt::internal {
namespace {

bool HasBroken(const Value& value) {
  return value.is_broken() || std::ranges::any_of(value.items, HasBroken) ||
         std::ranges::any_of(value.entries,
                             [](const Entry& entry) { return HasBroken(entry.value); });
}

}  // namespace

const Entry* Value::FindEntry(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

const Value* Value::Find(std::string_view key) const {
  const Entry* entry = FindEntry(key);
  return entry == nullptr ? nullptr : &entry->value;
}

std::string Describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
    case Value::Kind::kBroken:
      return "nothing";
    case Value::Kind::kString:
      return "the string " + QuoteJson(value.text.substr(0, 80));
    case Value::Kind::kList:
      return "a list";
    case Value::Kind::kMap:
      return "a map";
    default:
      return value.text;
  }
}

OrderedJson ToJson(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
    case Value::Kind::kBroken:
      return nullptr;
    case Value::Kind::kBool:
      return value.boolean;
    case Value::Kind::kInt:
      return value.integer;
    case Value::Kind::kFloat:
      return value.number;
    case Value::Kind::kString:
      return value.text;
    case Value::Kind::kList: {
      OrderedJson list = OrderedJson::array();
      for (const Value& item : value.items) list.push_back(ToJson(item));
      return list;
    }
    case Value::Kind::kMap:
      break;
  }
  // Pushed as pairs: assigning by key searches an ordered map each time.
  OrderedJson::object_t map;
  map.reserve(value.entries.size());
  for (const Entry& entry : value.entries) {
    map.push_back({entry.key, ToJson(entry.value)});
  }
  return map;
}

std::optional<ParamValue> ToParamValue(const Value& value) {
  if (HasBroken(value) || HasNonFinite(value)) return std::nullopt;
  return ParamValueFromJson(ToJson(value));
}

bool HasNonFinite(const Value& value) {
  if (value.kind == Value::Kind::kFloat) return !std::isfinite(value.number);
  return std::ranges::any_of(value.items, HasNonFinite) ||
         std::ranges::any_of(value.entries, [](const Entry& entry) {
           return HasNonFinite(entry.value);
         });
}

}  // namespace hyperopt::internal

#include "trial/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "trial/errors.h"

namespace hyperopt {
namespace {

constexpr auto kReplace = OrderedJson::error_handler_t::replace;

void NameNonFinite(OrderedJson& json) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) {
    json = DoubleToText(json.get<double>());
  } else if (json.is_structured()) {
    for (auto& item : json) NameNonFinite(item);
  }
}

bool HasNonFinite(const OrderedJson& json) {
  if (json.is_number_float()) return !std::isfinite(json.get<double>());
  if (!json.is_structured()) return false;
  for (const auto& item : json) {
    if (HasNonFinite(item)) return true;
  }
  return false;
}

// What the parser says without its own names: "unexpected end of input; ...".
std::string WhatOf(const OrderedJson::exception& error) {
  std::string what = error.what();
  for (const std::string_view sign : {"syntax error while parsing ", "] "}) {
    const size_t at = what.find(sign);
    if (at != std::string::npos) {
      what.erase(0, at + sign.size());
      break;
    }
  }
  return what;
}

}  // namespace

OrderedJson ParseJson(std::string_view text) {
  try {
    return OrderedJson::parse(text.begin(), text.end());
  } catch (const OrderedJson::parse_error& error) {
    throw ConfigError(
        fmt::format("not JSON at byte {}: {}", error.byte, WhatOf(error)));
  } catch (const OrderedJson::out_of_range& error) {
    throw ConfigError(
        fmt::format("a number that no double can hold: {}", WhatOf(error)));
  }
}

std::string DumpJson(const OrderedJson& json, int indent) {
  if (!HasNonFinite(json)) return json.dump(indent, ' ', false, kReplace);
  OrderedJson copy = json;
  NameNonFinite(copy);
  return copy.dump(indent, ' ', false, kReplace);
}

std::string QuoteJson(std::string_view text) {
  return OrderedJson(std::string(text)).dump(-1, ' ', false, kReplace);
}

OrderedJson NumberToJson(double value) {
  if (std::isfinite(value)) return value;
  return DoubleToText(value);
}

ParamValue ParamValueFromJson(const OrderedJson& json) {
  switch (json.type()) {
    case OrderedJson::value_t::null:
      return std::monostate{};
    case OrderedJson::value_t::boolean:
      return json.get<bool>();
    case OrderedJson::value_t::number_integer:
      return json.get<int64_t>();
    case OrderedJson::value_t::number_unsigned: {
      const auto value = json.get<uint64_t>();
      if (value > INT64_MAX) return static_cast<double>(value);
      return static_cast<int64_t>(value);
    }
    case OrderedJson::value_t::number_float:
      return json.get<double>();
    case OrderedJson::value_t::string:
      return json.get<std::string>();
    default:
      return Structured{DumpJson(json)};
  }
}

OrderedJson ParamValueToJson(const ParamValue& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b;
  if (const auto* i = std::get_if<int64_t>(&value)) return *i;
  if (const auto* d = std::get_if<double>(&value)) return NumberToJson(*d);
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* s = std::get_if<Structured>(&value)) return ParseJson(s->json);
  return nullptr;
}

OrderedJson ParamsToJson(const Params& params) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, value] : params) json[name] = ParamValueToJson(value);
  return json;
}

}  // namespace hyperopt

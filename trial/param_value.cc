#include "trial/param_value.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace

std::string DoubleToText(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "NaN" : (value > 0 ? "Infinity" : "-Infinity");
  }
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  // YAML 1.1 reads 1e-05 as a string; 1.0e-05 is a number for every reader.
  const size_t e = text.find('e');
  if (e != std::string::npos && text.find('.') == std::string::npos) {
    text.insert(e, ".0");
  }
  return text;
}

std::string ToWord(const ParamValue& value) {
  return std::visit(Overloaded{[](std::monostate) { return std::string("null"); },
                               [](bool b) { return std::string(b ? "true" : "false"); },
                               [](int64_t i) { return std::to_string(i); },
                               [](double d) { return DoubleToText(d); },
                               [](const std::string& s) { return s; },
                               [](const Structured& s) { return s.json; }},
                    value);
}

std::string ToJsonText(const ParamValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return QuoteJson(*text);
  return ToWord(value);
}

std::string ToJsonText(const Params& params) {
  std::string out = "{";
  for (const auto& [name, value] : params) {
    if (out.size() > 1) out += ",";
    out += QuoteJson(name) + ":" + ToJsonText(value);
  }
  return out + "}";
}

ParamValue ParamValueFromJsonText(std::string_view text) {
  return ParamValueFromJson(ParseJson(text));
}

Params ParamsFromJsonText(std::string_view text) {
  const OrderedJson json = ParseJson(text);
  if (!json.is_object()) throw ConfigError("parameters must be a JSON object");
  Params params;
  for (const auto& [name, value] : json.items()) {
    params[name] = ParamValueFromJson(value);
  }
  return params;
}

}  // namespace hyperopt

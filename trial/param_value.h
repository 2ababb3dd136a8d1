// The value of a parameter. Any JSON value can be a category and keeps its type:
// 1, 1.0, true and "1" are four values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace hyperopt {

// A list or a map, as compact JSON text with keys in the order written.
struct Structured {
  std::string json;
  auto operator<=>(const Structured&) const = default;
};

// monostate is JSON's null. Doubles are finite: the search file refuses others.
using ParamValue =
    std::variant<std::monostate, bool, int64_t, double, std::string, Structured>;

// Ordered on purpose: the order reaches files and decisions.
using Params = std::map<std::string, ParamValue>;

// JSON text. A double always reads back as a double (1.0 stays 1.0) and exactly.
std::string ToJsonText(const ParamValue& value);
std::string ToJsonText(const Params& params);

// Throws ConfigError on text that is not JSON (for Params: not an object).
ParamValue ParamValueFromJsonText(std::string_view text);
Params ParamsFromJsonText(std::string_view text);

// The value as one word of a command line: a string as it is, true/false, numbers so
// that they read back exactly, null as "null", structured values as compact JSON.
std::string ToWord(const ParamValue& value);

// Shortest text that reads back as the same double; "1.0", never "1".
std::string DoubleToText(double value);

}  // namespace hyperopt

// The project's JSON: keys keep their order, numbers may be NaN or infinite.
// nlohmann writes NaN as null and then refuses to read it as a number, so whatever can
// hold one goes through here.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "trial/param_value.h"

namespace hyperopt {

using OrderedJson = nlohmann::ordered_json;

// Throws ConfigError with the position where `text` is not JSON. The words NaN,
// Infinity and -Infinity, as Python writes them, are not accepted here; report lines
// have their own reader.
OrderedJson ParseJson(std::string_view text);

// Compact text; NaN and infinities become the strings "NaN", "Infinity", "-Infinity".
// Invalid UTF-8 is replaced, never thrown at.
std::string DumpJson(const OrderedJson& json, int indent = -1);

// A JSON string literal, quotes included.
std::string QuoteJson(std::string_view text);

// A number as JSON, a non-finite one as its string.
OrderedJson NumberToJson(double value);

ParamValue ParamValueFromJson(const OrderedJson& json);
OrderedJson ParamValueToJson(const ParamValue& value);
OrderedJson ParamsToJson(const Params& params);

}  // namespace hyperopt

#include "search/report/internal/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "trial/json.h"

namespace hyperopt::internal {

void AppendEscaped(std::string_view json, std::string* out) {
  for (char c : json) {
    if (c == '<') {
      *out += "\\u003c";
    } else {
      *out += c;
    }
  }
}

void AppendQuoted(std::string_view text, std::string* out) {
  AppendEscaped(QuoteJson(text), out);
}

void AppendNumber(double value, int digits, std::string* out) {
  if (std::isnan(value)) {
    *out += "\"NaN\"";
  } else if (std::isinf(value)) {
    *out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    fmt::format_to(std::back_inserter(*out), "{:.{}g}", value, digits);
  }
}

void AppendInteger(int64_t value, std::string* out) {
  fmt::format_to(std::back_inserter(*out), "{}", value);
}

void AppendObjective(const Objective& value, std::string* out) {
  if (value.missing()) {
    *out += "null";
  } else {
    AppendNumber(value.AsDouble(), 9, out);
  }
}

void AppendName(std::string_view name, std::string* out) {
  if (!out->empty() && out->back() != '{') *out += ',';
  AppendQuoted(name, out);
  *out += ':';
}

void AppendText(std::string_view name, std::string_view text, std::string* out) {
  AppendName(name, out);
  AppendQuoted(text, out);
}

void AppendNumberMember(std::string_view name, double value, std::string* out) {
  AppendName(name, out);
  AppendNumber(value, 13, out);
}

}  // namespace hyperopt::internal

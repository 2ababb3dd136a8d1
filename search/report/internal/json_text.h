// JSON text that may stand inside an HTML script element: no `<` is in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trial/objective.h"

namespace hyperopt::internal {

// A string literal. Invalid UTF-8 is replaced.
void AppendQuoted(std::string_view text, std::string* out);

// JSON text made elsewhere, with `<` escaped (it can only stand inside a string).
void AppendEscaped(std::string_view json, std::string* out);

// At most `digits` significant ones; a number that is not finite as its string.
void AppendNumber(double value, int digits, std::string* out);
void AppendInteger(int64_t value, std::string* out);
void AppendObjective(const Objective& value, std::string* out);

// A member of an object: its name with a comma where it is not the first, its value.
void AppendName(std::string_view name, std::string* out);
void AppendText(std::string_view name, std::string_view text, std::string* out);
void AppendNumberMember(std::string_view name, double value, std::string* out);

// `"name":[...]`, with a comma before it where something stands there already.
// `append(item, out)` writes one item.
template <typename Range, typename Append>
void AppendColumn(std::string_view name,
                  const Range& items,
                  const Append& append,
                  std::string* out) {
  AppendName(name, out);
  *out += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!first) *out += ',';
    first = false;
    append(item, out);
  }
  *out += ']';
}

}  // namespace hyperopt::internal

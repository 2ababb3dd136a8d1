// What a text must be before it is read as YAML.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hyperopt::internal {

struct TextFault {
  int line = 0;  // from 1; 0: the text as a whole
  int column = 0;
  std::string text;
};

// Over 8 MiB, not UTF-8, or with a control character (yaml-cpp takes a 0x04 for the
// end of the file). nullopt where the text is fine.
std::optional<TextFault> FaultOfText(std::string_view text);

// Whether the quoted scalar that starts at a line and column (from 0, in bytes; anchor
// and tag may stand before the quote) has its closing quote. yaml-cpp takes the end of
// the file for one.
bool IsClosedQuote(std::string_view text, int line, int column);

// Line `index` (from 0) without its end; empty where there is none.
std::string LineOf(std::string_view text, int index);

}  // namespace hyperopt::internal

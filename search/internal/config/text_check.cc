#include "search/internal/config/text_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "trial/resources.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kLargestText = size_t{8} << 20;

// How many bytes the UTF-8 sequence at the start of `text` takes; 0 where there is
// none: a stray or missing continuation, an overlong form, a surrogate, over U+10FFFF.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : (first >= 0xe0 ? 3 : 2);
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const uint8_t second = byte(1);
  const bool out_of_range =
      (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return out_of_range ? 0 : length;
}

bool IsControl(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

}  // namespace

std::optional<TextFault> FaultOfText(std::string_view text) {
  if (text.size() > kLargestText) {
    return TextFault{0,
                     0,
                     fmt::format("the file is too large: {}, at most {}",
                                 SizeToText(static_cast<int64_t>(text.size())),
                                 SizeToText(static_cast<int64_t>(kLargestText)))};
  }
  int line = 1;
  int column = 1;
  for (size_t at = 0; at < text.size();) {
    const size_t length = SequenceLength(text.substr(at));
    if (length == 0) return TextFault{line, column, "the text is not UTF-8"};
    if (IsControl(text[at])) {
      return TextFault{
          line,
          column,
          fmt::format("the control character 0x{:02x}",
                      static_cast<unsigned>(static_cast<uint8_t>(text[at])))};
    }
    ++column;
    if (text[at] == '\n') {
      ++line;
      column = 1;
    }
    at += length;
  }
  return std::nullopt;
}

bool IsClosedQuote(std::string_view text, int line, int column) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (; line > 0; --line) {
    const size_t end = text.find('\n');
    if (end == text.npos) return true;
    text.remove_prefix(end + 1);
  }
  size_t at = std::min(static_cast<size_t>(column), text.size());
  while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
    at = std::min(text.find_first_of(" \t\r\n", at), text.size());
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  }
  if (at == text.size()) return true;
  const char quote = text[at];
  if (quote != '"' && quote != '\'') return true;
  for (++at; at < text.size(); ++at) {
    const std::string_view two = text.substr(at, 2);
    const bool is_escape = quote == '"' ? two[0] == '\\' : two == "''";
    if (is_escape) {
      ++at;
    } else if (text[at] == quote) {
      return true;
    }
  }
  return false;
}

std::string LineOf(std::string_view text, int index) {
  for (; index > 0; --index) {
    const size_t end = text.find('\n');
    if (end == text.npos) return "";
    text.remove_prefix(end + 1);
  }
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace hyperopt::internal

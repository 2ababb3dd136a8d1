#include "search/commands/text_width.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

#include "search/internal/live_block.h"

namespace hyperopt {

size_t TextWidth() {
  constexpr size_t kNoLimit = 10'000;
  constexpr size_t kLeast = 20;
  if (isatty(STDOUT_FILENO) == 0) return kNoLimit;
  return std::max(kLeast, internal::SizeOfTerminal(STDOUT_FILENO).columns - 1);
}

bool SpeaksUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string text = value;
    std::erase(text, '-');
    std::ranges::transform(
        text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text.find("utf8") != text.npos;
  }
  return false;
}

}  // namespace hyperopt

#include "search/commands/text_width.h"

#include <unistd.h>

#include <algorithm>

#include "search/internal/live_block.h"

namespace hyperopt {

size_t TextWidth() {
  constexpr size_t kNoLimit = 10'000;
  constexpr size_t kLeast = 20;
  if (isatty(STDOUT_FILENO) == 0) return kNoLimit;
  return std::max(kLeast, internal::SizeOfTerminal(STDOUT_FILENO).columns - 1);
}

}  // namespace hyperopt

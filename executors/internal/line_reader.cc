#include "executors/internal/line_reader.h"

#include "executors/internal/utf8.h"

namespace hyperopt::internal {

void CountOdd(int64_t Oddities::*kind, std::string_view line, Oddities& odd) {
  ++(odd.*kind);
  if (odd.first.empty()) odd.first = ShownStart(line);
}

std::optional<SourceRead> LineReader::Read(ReadMode mode, int64_t max_bytes) {
  Begin();
  SourceRead read;
  const auto progress =
      follower_.Read(mode, max_bytes, [&](const LineFollower::Line& line) {
        if (line.too_long) {
          CountOdd(&Oddities::too_long, line.text, read.oddities);
        } else {
          Take(line, read);
        }
      });
  if (!progress.something) return std::nullopt;
  read.from = progress.from;
  read.upto = follower_.position();
  read.more = progress.more;
  return read;
}

}  // namespace hyperopt::internal

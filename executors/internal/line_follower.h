// Follows a file that others append to, line by line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "executors/report_reader.h"
#include "trial/fs.h"

namespace hyperopt::internal {

inline constexpr size_t kLongestLine = 1 << 20;

// Where lines end: \n, or \r too, as progress bars redraw theirs.
enum class LineEnds { kNewline, kCarriageReturnToo };

class LineFollower {
 public:
  // The line without its end; of one over kLongestLine the first bytes.
  struct Line {
    std::string_view text;
    int64_t end_offset = 0;
    bool too_long = false;
  };
  struct Progress {
    bool something = false;  // lines, a new generation, or a stop at the limit
    bool more = false;
    int64_t from = 0;
  };

  LineFollower(std::filesystem::path file, const SourceId& source, LineEnds ends);

  // Calls back for each line that is new. position() moves from line to line only, so
  // that who starts there again sees the same lines.
  Progress Read(ReadMode mode,
                int64_t max_bytes,
                const std::function<void(const Line&)>& visit);
  void Seek(const SourceOffset& to);
  // From now on a file whose beginning has changed is a new generation, though it is as
  // long as before and its lines end in the same places; and so is one in which the
  // place of a Seek is within a line.
  void WatchStart() { watches_start_ = true; }
  const SourceOffset& position() const { return position_; }

 private:
  // Opens the file, or looks whether it is still the one that is open. False where
  // there is none. `size` is what it has now.
  bool Look(int64_t& size, bool& is_new_generation);
  void NextGeneration();
  bool StartIsSame();
  int64_t read_upto() const {
    return position_.offset + skipped_ + static_cast<int64_t>(buffer_.size());
  }
  // Reads up to `bytes` more into the buffer. False at the end of the file, or where
  // the file was written anew under our feet.
  bool Fill(int64_t bytes, bool& is_other_file);
  void TakeLines(const std::function<void(const Line&)>& visit, bool& has_lines);
  void TakeRest(const std::function<void(const Line&)>& visit, bool& has_lines);

  const std::filesystem::path file_;
  const LineEnds ends_;
  UniqueFd fd_;
  SourceOffset position_;       // after the last line
  std::string buffer_;          // what follows position_ + skipped_
  size_t searched_ = 0;         // of buffer_: has no line end
  int64_t skipped_ = 0;         // bytes of a line over the limit that were let go
  std::string skipped_start_;   // its first bytes
  bool after_newline_ = false;  // the byte before position_ was seen to be one
  bool watches_start_ = false;
  std::string start_;  // the file's first bytes, where they are watched
};

}  // namespace hyperopt::internal

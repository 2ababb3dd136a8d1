// A report reader of a file of lines: what one line means is the subclass's.
#pragma once

#include <filesystem>
#include <optional>

#include "executors/internal/line_follower.h"
#include "executors/report_reader.h"

namespace hyperopt::internal {

class LineReader : public ReportReader {
 public:
  std::optional<SourceRead> Read(ReadMode mode, int64_t max_bytes) final;
  void Seek(const SourceOffset& to) override { follower_.Seek(to); }
  const SourceOffset& position() const final { return follower_.position(); }

 protected:
  LineReader(const std::filesystem::path& file, const SourceId& source, LineEnds ends)
      : follower_(file, source, ends) {}

  // Before each Read.
  virtual void Begin() {}
  // Puts the line's reports, if it has any, into read.lines with their offsets, and
  // counts what is odd. Lines that are too long do not come here: they are counted.
  virtual void Take(const LineFollower::Line& line, SourceRead& read) = 0;

  LineFollower follower_;
};

// Counts one line of a kind; the first one is kept to be shown.
void CountOdd(int64_t Oddities::*kind, std::string_view line, Oddities& odd);

}  // namespace hyperopt::internal

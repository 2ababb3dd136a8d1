// Reads what a trial writes: JSON lines in $HYPEROPT_REPORT, and lines of its output
// that `read:` asks for. Only whole lines count until the end; the offset after a line
// is its key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trial/measurement.h"

namespace hyperopt {

// What one line says. nullopt (with the matching count raised in `odd`) where it is no
// report. Accepts NaN, Infinity, -Infinity, as Python writes them, and numbers in
// strings "NaN", "Infinity"; `step` is an integer, or a float with an integer's value;
// booleans are 0 and 1; strings, lists and nested maps are ignored; a repeated key: the
// last.
std::optional<ReportLine> ParseReportLine(std::string_view line, Oddities* odd);

enum class ReadMode {
  kWholeLines,  // the writer lives: a last line without newline waits
  kToTheEnd,    // every descendant is gone: it counts
};

struct SourceRead {
  SourceOffset upto;
  int64_t from = 0;
  std::vector<ReportLine> lines;
  Oddities oddities;
  bool more = false;  // stopped at the limit, not at the end
};

// One source of one attempt. Not thread-safe.
class ReportReader {
 public:
  virtual ~ReportReader() = default;
  // Reads on from where it stands, at most about `max_bytes`. nullopt where nothing new
  // came and the file is the same. A file that shrank or was replaced is read from 0
  // under the next generation.
  virtual std::optional<SourceRead> Read(ReadMode mode, int64_t max_bytes) = 0;
  // Goes back to (or on from) a committed place.
  virtual void Seek(const SourceOffset& to) = 0;
  virtual const SourceOffset& position() const = 0;
};

// $HYPEROPT_REPORT.
std::unique_ptr<ReportReader> NewJsonReader(const std::filesystem::path& file,
                                            const SourceId& source);
// stdout or stderr by patterns (field, ECMAScript regex; lines split at \n and \r). A
// line gives one report where a pattern other than `step`'s matches; a field that
// matched on its own line before (`epoch` on one line, `loss` on the next) holds until
// it matches again.
std::unique_ptr<ReportReader> NewPatternReader(
    const std::filesystem::path& file,
    const SourceId& source,
    const std::vector<std::pair<std::string, std::string>>& patterns);

}  // namespace hyperopt

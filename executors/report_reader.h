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

// What one line says; end_offset is left 0. nullopt (with the matching count raised in
// `odd`) where it is no report, nullopt and no count for a blank line. Accepts NaN,
// Infinity, -Infinity, as Python writes them, nan and inf, as C does, the same words in
// strings, and numbers as bc writes them (.5); `step` is an integer, or a float with an
// integer's value (another one is kept among the values); booleans are 0 and 1;
// strings, lists and nested maps are ignored; a repeated key: the last.
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
  // Reads on from where it stands, at most `max_bytes`. nullopt where nothing new came
  // and the file is the same, and where there is no file. A file that shrank or was
  // replaced is read from 0 under the next generation. Within a line over 1 MiB it may
  // stop at the limit with nothing but `more`: `upto` stays before that line until its
  // end was seen.
  virtual std::optional<SourceRead> Read(ReadMode mode, int64_t max_bytes) = 0;
  // Goes back to (or on from) a committed place.
  virtual void Seek(const SourceOffset& to) = 0;
  virtual const SourceOffset& position() const = 0;
};

// $HYPEROPT_REPORT.
std::unique_ptr<ReportReader> NewJsonReader(const std::filesystem::path& file,
                                            const SourceId& source);
// stdout or stderr by patterns (field, ECMAScript regex; its first group, or all of it,
// is the number; lines split at \n and \r). A line gives one report where a pattern
// other than `step`'s matches. What `step` said last holds for the lines that follow,
// and so do the fields of the first line that ever matched (`epoch` on one line, `loss`
// on the next: each loss is reported with its epoch). The other fields stand in the
// report of their own line only, so that no value is reported twice. Of a line the
// first 16 KiB are searched. Throws ConfigError on what is no regex.
std::unique_ptr<ReportReader> NewPatternReader(
    const std::filesystem::path& file,
    const SourceId& source,
    const std::vector<std::pair<std::string, std::string>>& patterns);

}  // namespace hyperopt

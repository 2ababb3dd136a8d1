// Reads what a trial writes: JSON lines in $HYPEROPT_REPORT, and what else `read:` asks
// for in its output and its files. Only whole lines count until the end; the offset
// after a line is its key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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

// An oddity whose `first` begins so says in words what could not be read; any other is
// a line of the trial's.
inline constexpr std::string_view kReaderSays = "read: ";

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
// stdout or stderr by the dicts in it, as JSON or as Python prints them, wherever in a
// line they begin (behind a progress bar, a log's prefix); a line may hold several. A
// dict without a number is none; lines without one are no oddity.
std::unique_ptr<ReportReader> NewDictReader(const std::filesystem::path& file,
                                            const SourceId& source);
// A table with a line of titles: `,`, `;` or tab between cells, cells that may be
// quoted and empty. Each row is a report of its cells that are numbers (True and False
// are 1 and 0). A line of words where titles stand already are new titles. A file that
// is written anew (a logger that adds a column, or writes its whole history each time)
// is read again, and the rows that were there before are not reported twice.
std::unique_ptr<ReportReader> NewCsvReader(const std::filesystem::path& file,
                                           const SourceId& source);
// An event file of TensorBoard: each scalar (simple_value, or a tensor of one number)
// with the step of its event. Records that are damaged are counted as binary; behind
// one whose length is damaged nothing more can be read.
std::unique_ptr<ReportReader> NewTensorboardReader(const std::filesystem::path& file,
                                                   const SourceId& source);
// The same reports with other names: a field `first` is called `second`, and takes the
// place of a field that had that name. `step` is a name too, of whole numbers.
std::unique_ptr<ReportReader> WithNames(std::unique_ptr<ReportReader> reader,
                                        std::map<std::string, std::string> names);

// What a line of output says in dicts: each with the place in `line` where it ends, the
// first 16 at most.
std::vector<std::pair<size_t, ReportLine>> ParseDicts(std::string_view line);

}  // namespace hyperopt

// A report of a trial, as it crosses every boundary: report line, wire, record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "trial/ids.h"
#include "trial/objective.h"

namespace hyperopt {

// Where a report was read. A source is a file of the attempt's folder ("report", or a
// name that `read:` gave); a file that shrinks or is replaced goes on under the next
// generation, from 0.
struct SourceId {
  std::string name = "report";
  int32_t generation = 0;
  auto operator<=>(const SourceId&) const = default;
};

// One line that was understood. Numbers only; NaN and infinities are numbers.
struct ReportLine {
  int64_t end_offset = 0;       // byte after the line's end, in its source: its key
  std::optional<int64_t> step;  // completed units, from 1
  std::map<std::string, double> values;  // every other numeric field
  double elapsed_s = 0;                  // since the attempt's start, when it was read
};

// Lines that were no report: counted, shown once, never fatal.
struct Oddities {
  int64_t not_json = 0;
  int64_t too_long = 0;   // over 1 MiB; skipped to its end
  int64_t binary = 0;     // not UTF-8 or with NUL bytes
  int64_t no_number = 0;  // an object without a numeric field
  std::string first;      // up to 200 bytes of the first one, printable
  bool any() const { return not_json + too_long + binary + no_number > 0; }
};

// How far a source was read (by the executor) or committed (by the record).
struct SourceOffset {
  SourceId source;
  uint64_t device = 0;  // of the file, as stat gives them; 0 where not known
  uint64_t inode = 0;
  int64_t offset = 0;
  bool operator==(const SourceOffset&) const = default;
};

// Places of one source in order: a later generation is further than any offset before
// it.
inline std::pair<int32_t, int64_t> PlaceOf(const SourceOffset& at) {
  return {at.source.generation, at.offset};
}
inline constexpr std::pair<int32_t, int64_t> kNowhere{0, 0};

}  // namespace hyperopt

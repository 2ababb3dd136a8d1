// A sweep's record as the data of its report.
#pragma once

#include <cstdint>
#include <string>

#include "search/commands/recorded_sweep.h"
#include "trial/clock.h"

namespace hyperopt {

// One JSON object of columns (README.md of this folder), without a `<` in it, so that
// it may stand in a script element. Numbers are rounded to nine digits. `now` is when
// it is written: what still runs is drawn up to it.
std::string ReportJson(const RecordedSweep& sweep, WallTime now);

// What is kept from one reading of a sweep to the next: its model, which is fitted anew
// once a tenth more trials have ended, and when the sweep is over.
struct ReportMemo {
  std::string space;
  int64_t ended = -1;
  std::string landscape;
};
// The same for one who reads it again and again. `memo` begins empty.
std::string ReportJson(const RecordedSweep& sweep, WallTime now, ReportMemo* memo);

}  // namespace hyperopt

// A sweep's record as the data of its report.
#pragma once

#include <string>

#include "search/commands/recorded_sweep.h"
#include "trial/clock.h"

namespace hyperopt {

// One JSON object of columns (README.md of this folder), without a `<` in it, so that
// it may stand in a script element. Numbers are rounded to nine digits. `now` is when
// it is written: what still runs is drawn up to it.
std::string ReportJson(const RecordedSweep& sweep, WallTime now);

}  // namespace hyperopt

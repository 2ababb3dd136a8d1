// What a trial reported, as loggers want it: each field a curve.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trial/record.h"

namespace hyperopt {

struct LoggedValue {
  std::string field;
  int64_t step = 0;
  double value = 0;  // may be NaN or infinite
  WallTime wall = 0;
};

// All numeric fields but `step`, a value for each step and field, in the order in which
// these were first reported: what later reports add stands at the end. Each is that of
// the highest attempt that reported it there, the last of that attempt's.
std::vector<LoggedValue> LoggedValuesOf(std::span<const ReportRow> reports);

}  // namespace hyperopt

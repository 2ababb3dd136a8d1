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

// All numeric fields but `step`, by step and field. For each, the value of the highest
// attempt that reported it there, the last of that attempt's; later reports add at the
// end while a trial goes on.
std::vector<LoggedValue> LoggedValuesOf(std::span<const ReportRow> reports);

}  // namespace hyperopt

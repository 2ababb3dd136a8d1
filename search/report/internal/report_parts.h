// The columns of a report's data, each function one group of them.
#pragma once

#include <string>

#include "search/report/internal/report_source.h"
#include "trial/clock.h"

namespace hyperopt::internal {

// Seconds since the begin, to the hundredth; null for a time that is not yet.
void AppendTime(const ReportSource& source, WallTime time, std::string* out);

// "params", "values"
void AppendParams(const ReportSource& source, std::string* out);
// "trials", "states", "reasons", "details"
void AppendTrials(const ReportSource& source, std::string* out);
// "runs", "devices", "outcomes", "executors", "absences", "pauses"
void AppendRuns(const ReportSource& source, std::string* out);
// "curves"
void AppendCurves(const ReportSource& source, std::string* out);

}  // namespace hyperopt::internal

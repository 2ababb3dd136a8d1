// The columns of a report's data, each function one group of them.
#pragma once

#include <string>
#include <vector>

#include "search/report/internal/report_source.h"
#include "search/report/landscape.h"
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
// "objectives"
void AppendObjectives(const ReportSource& source, std::string* out);
// "spreads"
void AppendSpreads(const ReportSource& source, std::string* out);
// "resumed", "copies"
void AppendPieces(const ReportSource& source, std::string* out);

// The object "landscape".
std::string LandscapeJson(const SearchSpace& space, const Landscape& landscape);
// What a model learns from: the values of trials that have ended, by trial.
std::vector<Objective> EndedValues(const ReportSource& source);

}  // namespace hyperopt::internal

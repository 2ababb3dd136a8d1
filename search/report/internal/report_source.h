// All of a sweep that its report shows, read once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "search/commands/recorded_sweep.h"
#include "search/report/curves.h"
#include "search/report/internal/report_spreads.h"
#include "trial/clock.h"

namespace hyperopt::internal {

// Texts that many trials share, each once.
class TextPool {
 public:
  size_t Of(std::string_view text);
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, size_t, std::less<>> places_;
  std::vector<std::string> texts_;
};

struct ReportRun {
  RunRow row;
  double gpus = 0;  // shares of devices, together
};

// A paused trial that went on.
struct ReportResumption {
  TrialId trial;
  WallTime at = 0;
};

// A trial that began as a changed copy of another one, in the place of a third.
struct ReportCopy {
  TrialId trial, parent, replaced;
  int64_t step = 0;  // of the parent's checkpoint
  WallTime at = 0;
};

struct ReportSource {
  const RecordedSweep* sweep = nullptr;
  WallTime begin = 0;             // what times are counted from
  WallTime until = 0;             // the end of what is shown
  std::vector<Params> params;     // by trial
  std::vector<Objective> values;  // what ranks; missing for a failed trial
  std::vector<ReportRun> runs;    // by trial
  // By trial, thinned; all empty where none has two points.
  std::vector<std::vector<CurvePoint>> curves;
  int64_t longest = 0;  // points of the longest, before thinning
  // Of several objectives those after the first, by trial; else no list has any.
  std::vector<std::vector<Objective>> others;
  SpreadFields spread_fields;
  std::vector<TrialSpread> spreads;  // by trial; empty where no field says anything
  std::vector<ReportResumption> resumptions;
  std::vector<ReportCopy> copies;
  // While nobody ran the sweep, and while it was paused.
  std::vector<std::pair<WallTime, WallTime>> absences, pauses;

  const std::vector<TrialRow>& trials() const { return sweep->record.trials; }
};

ReportSource ReadReportSource(const RecordedSweep& sweep, WallTime now);

}  // namespace hyperopt::internal

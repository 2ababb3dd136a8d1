// All of a sweep that its report shows, read once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "search/commands/recorded_sweep.h"
#include "search/report/curves.h"
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

struct ReportSource {
  const RecordedSweep* sweep = nullptr;
  WallTime begin = 0;             // what times are counted from
  WallTime until = 0;             // the end of what is shown
  std::vector<Params> params;     // by trial
  std::vector<Objective> values;  // what ranks; missing for a failed trial
  std::vector<ReportRun> runs;    // by trial
  std::vector<std::vector<CurvePoint>> curves;  // by trial, thinned; empty below two
  int64_t longest = 0;  // points of the longest, before thinning
  // While nobody ran the sweep, and while it was paused.
  std::vector<std::pair<WallTime, WallTime>> absences, pauses;

  const std::vector<TrialRow>& trials() const { return sweep->record.trials; }
};

ReportSource ReadReportSource(const RecordedSweep& sweep, WallTime now);

}  // namespace hyperopt::internal

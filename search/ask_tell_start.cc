// Ask and tell: what a record brings back.
#include <algorithm>
#include <utility>

#include "search/ask_tell.h"
#include "search/objectives.h"
#include "search/replay.h"

namespace hyperopt {

void AskTell::RestoreOpen(const TrialRow& row, Params params) {
  Open& open = open_[row.id];
  open.params = std::move(params);
  const std::vector<ReportRow> reports = store_->LoadReports(row.id);
  const std::vector<RunRow> runs = store_->LoadRuns(row.id);
  open.others = OthersOf(reports, config_);
  for (const ReportRow& report : reports) open.iterations += report.step > 0;
  for (const JudgedReport& each : ReplayReports(reports, runs, config_).judged) {
    open.judged_time = std::max(open.judged_time, each.time);
  }
  if (row.state != TrialState::kPaused) to_hand_out_.insert(row.id);
  for (const RunRow& run : runs) {
    if (run.key.attempt == row.attempt) open.began = run.resume_from;
  }
}

void AskTell::RestoreCurves() {
  std::map<TrialId, std::vector<ReportRow>> reports;
  for (const TrialRow& row : rows_) {
    if (!IsFinished(row.state)) reports[row.id] = store_->LoadReports(row.id);
  }
  for (const JudgedReport& each : RecordedCurves(*store_, config_, reports)) {
    scheduler_->Observe(each.trial, each.time, each.value);
  }
}

}  // namespace hyperopt

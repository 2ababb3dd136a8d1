// Recorded reports, told again as the controller heard them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "search/config.h"
#include "search/curve.h"
#include "search/recorded_pieces.h"
#include "trial/objective.h"
#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

// What a scheduler is asked about one report. `time` is -1 where none was reported.
struct JudgedReport {
  TrialId trial;
  int64_t time = -1;
  Objective value;
  double elapsed_s = 0;  // in all attempts, earlier ones as far as their reports go
  int32_t attempt = 0;
};

// What a trial's row says of its reports.
struct ReplayedTrial {
  int64_t reports = 0;
  Objective best, last;
  int64_t best_step = 0, last_step = 0;
  std::vector<JudgedReport> judged;  // in order; a step seen before is not judged
};

// The reports of one trial, one after another. The configuration must outlive it.
class TrialReplay {
 public:
  // `clone` where the trial is a copy of another.
  explicit TrialReplay(const SearchConfig& config, CloneStart clone = {})
      : config_(config), clone_(std::move(clone)) {}

  // Whether `report` is of another attempt than the one before it, whose run says where
  // it starts.
  bool BeginsAttempt(const ReportRow& report) const { return report.key != key_; }
  void BeginAttempt(const RunKey& key, std::span<const RunRow> runs);

  // In the order of their commit. nullopt for a report that is not judged. REQUIRES:
  // !BeginsAttempt(report).
  std::optional<JudgedReport> Take(const ReportRow& report);

  // Of all that was taken; `judged` stays empty.
  const ReplayedTrial& row() const { return row_; }

 private:
  int64_t TimeOf(const ReportRow& report) const;
  double ElapsedAt(const ReportRow& report) const;

  const SearchConfig& config_;
  const CloneStart clone_;
  ReplayedTrial row_;
  Curve curve_;
  RunKey key_;
  int64_t iterations_ = 0;
  int64_t first_step_ = 0;
  std::optional<double> said_;         // the field time_attr, as the attempt said last
  std::map<Attempt, double> elapsed_;  // what each attempt's reports say at most
};

// `reports` in the order of their commit, `runs` of the same trial; `clone` where it is
// a copy of another.
ReplayedTrial ReplayReports(std::span<const ReportRow> reports,
                            std::span<const RunRow> runs,
                            const SearchConfig& config,
                            const CloneStart& clone = {});

// All judged reports of a record in the order of their commit.
std::vector<JudgedReport> ReplayRecord(const TrialStore& store,
                                       const SearchConfig& config);

// What the scheduler of `config` must observe when it is restored (scheduler.h).
// `open` are the reports of the unfinished trials.
std::vector<JudgedReport> RecordedCurves(
    const TrialStore& store,
    const SearchConfig& config,
    const std::map<TrialId, std::vector<ReportRow>>& open);

// Time of a trial's attempts before `attempt`, as far as their reports go.
double ElapsedBefore(const std::map<Attempt, double>& elapsed, Attempt attempt);

}  // namespace hyperopt

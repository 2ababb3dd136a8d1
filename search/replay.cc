#include "search/replay.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <deque>

#include "search/report_time.h"
#include "search/scheduler.h"

namespace hyperopt {
namespace {

// The step at the end of ".../checkpoints/<step>"; 0 for a fresh start.
int64_t FirstStep(const RunRow& run) {
  const size_t slash = run.resume_from.rfind('/');
  if (slash == std::string::npos) return 0;
  int64_t step = 0;
  std::from_chars(run.resume_from.data() + slash + 1,
                  run.resume_from.data() + run.resume_from.size(),
                  step);
  return step;
}

}  // namespace

void TrialReplay::BeginAttempt(const RunKey& key, std::span<const RunRow> runs) {
  key_ = key;
  first_step_ = 0;
  for (const RunRow& run : runs) {
    if (run.key == key) first_step_ = FirstStep(run);
  }
  iterations_ = curve_.CountUpTo(first_step_);
  if (clone_.step > 0 && first_step_ >= clone_.step) {
    iterations_ += clone_.time - curve_.CountUpTo(clone_.step);
  }
  said_.reset();
}

int64_t TrialReplay::TimeOf(const ReportRow& report) const {
  const std::string& attr = config_.scheduler.time_attr;
  if (attr == "training_iteration") return iterations_;
  if (attr == "step") return report.step;
  if (said_) return WholeTime(*said_);
  if (attr != "time_total_s") return -1;
  return WholeTime(static_cast<double>(clone_.time) + ElapsedAt(report));
}

double TrialReplay::ElapsedAt(const ReportRow& report) const {
  return ElapsedBefore(elapsed_, report.key.attempt) + report.elapsed_s;
}

std::optional<JudgedReport> TrialReplay::Take(const ReportRow& report) {
  assert(!BeginsAttempt(report));
  const std::string& attr = config_.scheduler.time_attr;
  if (IsReportedTime(attr)) {
    if (const auto time = FieldOf(report.values, attr)) said_ = time;
  }
  double& elapsed = elapsed_[report.key.attempt];
  elapsed = std::max(elapsed, report.elapsed_s);
  const Objective& value = report.objective;
  if (value.missing()) return std::nullopt;
  ++row_.reports;
  // A resumed trial may repeat the report of its checkpoint, which is counted already.
  if (report.step > first_step_) ++iterations_;
  const bool ahead = curve_.empty() || report.step > curve_.last_step();
  curve_.Add(report.step, key_.attempt.value(), value);
  row_.last = value;
  row_.last_step = report.step;
  if (row_.best.missing() || Better(config_.goal, value, row_.best)) {
    row_.best = value;
    row_.best_step = report.step;
  }
  if (curve_.TakeReplaced()) {
    const Curve::Best best = curve_.BestOf(config_.goal);
    row_.best = best.value;
    row_.best_step = best.step;
  }
  if (!ahead) return std::nullopt;
  return JudgedReport{report.key.trial,
                      TimeOf(report),
                      value,
                      ElapsedAt(report),
                      report.key.attempt.value()};
}

ReplayedTrial ReplayReports(std::span<const ReportRow> reports,
                            std::span<const RunRow> runs,
                            const SearchConfig& config,
                            const CloneStart& clone) {
  TrialReplay replay(config, clone);
  std::vector<JudgedReport> judged;
  for (const ReportRow& report : reports) {
    if (replay.BeginsAttempt(report)) replay.BeginAttempt(report.key, runs);
    if (const auto each = replay.Take(report)) judged.push_back(*each);
  }
  ReplayedTrial trial = replay.row();
  trial.judged = std::move(judged);
  return trial;
}

std::vector<JudgedReport> ReplayRecord(const TrialStore& store,
                                       const SearchConfig& config) {
  std::vector<JudgedReport> judged;
  std::deque<TrialReplay> trials;  // by number, which has no gaps
  store.ForEachReport([&](const ReportRow& report) {
    const auto index = static_cast<size_t>(report.key.trial.value());
    while (trials.size() <= index) trials.emplace_back(config);
    TrialReplay& trial = trials[index];
    if (trial.BeginsAttempt(report)) {
      // A first attempt starts at the beginning.
      const bool first = report.key.attempt == Attempt(1);
      trial.BeginAttempt(
          report.key, first ? std::vector<RunRow>() : store.LoadRuns(report.key.trial));
    }
    if (const auto each = trial.Take(report)) judged.push_back(*each);
    return true;
  });
  return judged;
}

std::vector<JudgedReport> RecordedCurves(
    const TrialStore& store,
    const SearchConfig& config,
    const std::map<TrialId, std::vector<ReportRow>>& open) {
  switch (CurvesFor(config.scheduler)) {
    case CurvesNeeded::kNone:
      break;
    case CurvesNeeded::kAll:
      return ReplayRecord(store, config);
    case CurvesNeeded::kOwn: {
      std::vector<JudgedReport> judged;
      for (const auto& [id, reports] : open) {
        const ReplayedTrial trial = ReplayReports(reports, store.LoadRuns(id), config);
        judged.insert(judged.end(), trial.judged.begin(), trial.judged.end());
      }
      return judged;
    }
  }
  return {};
}

double ElapsedBefore(const std::map<Attempt, double>& elapsed, Attempt attempt) {
  double sum = 0;
  for (const auto& [each, seconds] : elapsed) {
    if (each < attempt) sum += seconds;
  }
  return sum;
}

}  // namespace hyperopt

#include "search/commands/replay.h"

#include <charconv>

#include "search/curve.h"
#include "search/report_time.h"

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

// `said` is the field time_attr as this report or an earlier one of the attempt has it,
// null where none has.
std::optional<int64_t> TimeOf(const ReportRow& report,
                              const double* said,
                              int64_t iterations,
                              const std::string& attr,
                              bool copied) {
  if (attr == "training_iteration") return iterations;
  if (attr == "step") return report.step;
  if (said != nullptr) return WholeTime(*said);
  if (attr != "time_total_s") return -1;
  if (report.key.attempt.value() > 1 || copied) return std::nullopt;
  return WholeTime(report.elapsed_s);
}

}  // namespace

ReplayedTrial ReplayReports(std::span<const ReportRow> reports,
                            std::span<const RunRow> runs,
                            const SearchConfig& config,
                            const CloneStart& clone) {
  ReplayedTrial trial;
  Curve curve;
  RunKey key;
  int64_t iterations = 0, first_step = 0;
  const std::string& attr = config.scheduler.time_attr;
  std::optional<double> said;
  for (const ReportRow& report : reports) {
    if (report.key != key) {
      key = report.key;
      first_step = 0;
      for (const RunRow& run : runs) {
        if (run.key == key) first_step = FirstStep(run);
      }
      iterations = curve.CountUpTo(first_step);
      if (clone.step > 0 && first_step >= clone.step) {
        iterations += clone.time - curve.CountUpTo(clone.step);
      }
      said.reset();
    }
    if (IsReportedTime(attr)) {
      if (const auto time = FieldOf(report.values, attr)) said = time;
    }
    const Objective& value = report.objective;
    if (value.missing()) continue;
    ++trial.reports;
    // A resumed trial may repeat the report of its checkpoint, which is counted
    // already.
    if (report.step > first_step) ++iterations;
    const bool ahead = curve.empty() || report.step > curve.last_step();
    curve.Add(report.step, key.attempt.value(), value);
    trial.last = value;
    trial.last_step = report.step;
    if (trial.best.missing() || Better(config.goal, value, trial.best)) {
      trial.best = value;
      trial.best_step = report.step;
    }
    if (curve.TakeReplaced()) {
      const Curve::Best best = curve.BestOf(config.goal);
      trial.best = best.value;
      trial.best_step = best.step;
    }
    if (!ahead) continue;
    trial.judged.push_back(
        {TimeOf(report, said ? &*said : nullptr, iterations, attr, clone.step > 0),
         value,
         key.attempt.value()});
  }
  return trial;
}

}  // namespace hyperopt

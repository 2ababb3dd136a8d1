#include "search/commands/verify_verdicts.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "search/commands/verify_pieces.h"
#include "search/outcome.h"
#include "search/replay.h"
#include "search/scheduler.h"

namespace hyperopt {
namespace {

// Told to stop by someone else than the scheduler: when, among its reports, the record
// does not say.
bool IsStoppedByOthers(const TrialRow& row) {
  const Reason reason = row.stopping.value_or(row.reason);
  return reason == Reason::kUser || reason == Reason::kBudget;
}

class Checker {
 public:
  explicit Checker(const RecordedSweep& sweep) : sweep_(sweep) {}

  std::vector<WrongVerdict> Run() {
    if (sweep_.config.scheduler.pieces()) {
      CheckPieces(sweep_, [this](TrialId trial, const std::string& text) {
        wrong_.push_back({trial, text});
      });
    } else if (CurvesFor(sweep_.config.scheduler) == CurvesNeeded::kNone) {
      CheckRungVerdicts();
    } else {
      CheckCurveVerdicts();
    }
    return std::move(wrong_);
  }

 private:
  void CheckRungVerdicts();
  void CheckCurveVerdicts();
  void CheckReasons(const std::map<TrialId, Decision>& decided);
  void Compare(const RungRow& expected, const RungRow& recorded);

  template <typename... Args>
  void Differ(TrialId trial, fmt::format_string<Args...> format, Args&&... args) {
    wrong_.push_back({trial, fmt::format(format, std::forward<Args>(args)...)});
  }

  const RecordedSweep& sweep_;
  std::vector<WrongVerdict> wrong_;
};

// A fresh scheduler is told what the entries say came, in their order; it must make the
// same entries.
void Checker::CheckRungVerdicts() {
  const std::vector<RungRow>& rungs = sweep_.record.rungs;
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(
      sweep_.config.scheduler, sweep_.record.sweep.goal, sweep_.config.sampler.seed);
  for (size_t i = 0; i < rungs.size();) {
    const RungRow& row = rungs[i];
    const std::vector<RungRow> expected =
        row.value.missing()
            ? scheduler->OnFailed(row.trial)
            : scheduler->OnMeasurement(row.trial, row.time, row.value).entries;
    if (expected.empty()) {
      Differ(row.trial, "rung {} has an entry that no report makes", row.rung);
      ++i;
      continue;
    }
    for (const RungRow& entry : expected) {
      if (i < rungs.size() && rungs[i].trial == entry.trial) {
        Compare(entry, rungs[i++]);
      } else {
        Differ(entry.trial, "rung {} has no entry, and should", entry.rung);
      }
    }
  }
}

// The same where it is told every report, in the order of their commit.
void Checker::CheckCurveVerdicts() {
  const std::vector<RungRow>& rungs = sweep_.record.rungs;
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(
      sweep_.config.scheduler, sweep_.record.sweep.goal, sweep_.config.sampler.seed);
  size_t next = 0;
  const auto compare = [&](std::vector<RungRow> expected) {
    for (RungRow& entry : expected) {
      if (next == rungs.size() || rungs[next].trial != entry.trial) {
        Differ(entry.trial, "it has no entry for rung {}, and should", entry.rung);
        continue;
      }
      // Entries are counted over again where one is missing.
      entry.order = rungs[next].order;
      Compare(entry, rungs[next++]);
    }
  };
  const auto fail = [&] {
    while (next < rungs.size() && rungs[next].value.missing()) {
      const size_t before = next;
      compare(scheduler->OnFailed(rungs[next].trial));
      if (next == before) ++next;  // told by CheckRungs
    }
  };
  std::map<TrialId, Decision> decided;
  for (const JudgedReport& report : ReplayRecord(*sweep_.store, sweep_.config)) {
    fail();
    const bool entered = next < rungs.size() && rungs[next].trial == report.trial &&
                         rungs[next].time == report.time;
    if (!entered && IsStoppedByOthers(TrialOf(sweep_, report.trial))) {
      scheduler->Observe(report.trial, report.time, report.value);
      continue;
    }
    Verdict verdict = scheduler->OnMeasurement(report.trial, report.time, report.value);
    decided.try_emplace(report.trial, Decision::kContinue).first->second =
        verdict.decision;
    compare(std::move(verdict.entries));
  }
  fail();
  for (; next < rungs.size(); ++next) {
    Differ(rungs[next].trial,
           "there is an entry for rung {} that no report makes",
           rungs[next].rung);
  }
  CheckReasons(decided);
}

// Who is recorded as ended by the scheduler was.
void Checker::CheckReasons(const std::map<TrialId, Decision>& decided) {
  for (const TrialRow& row : sweep_.record.trials) {
    const bool by_scheduler = row.reason == Reason::kPruned ||
                              row.reason == Reason::kTarget ||
                              row.reason == Reason::kConverged;
    if (!by_scheduler) continue;
    const auto found = decided.find(row.id);
    if (found != decided.end() && ReasonOf(found->second) == row.reason) continue;
    Differ(row.id,
           "it is recorded as ended by the scheduler ({}), which its reports do not "
           "give",
           ToString(row.reason));
  }
}

void Checker::Compare(const RungRow& expected, const RungRow& recorded) {
  const auto words = [](const RungRow& row) {
    return fmt::format("{} (bracket {}, rung {}, level {}, order {}{})",
                       row.stopped ? "stopped" : "went on",
                       row.bracket,
                       row.rung,
                       row.level,
                       row.order,
                       row.late ? ", passed over" : "");
  };
  const std::string was = words(recorded), should = words(expected);
  if (was == should) return;
  Differ(recorded.trial, "the verdict at a rung is {}, should be {}", was, should);
}

}  // namespace

std::vector<WrongVerdict> WrongVerdicts(const RecordedSweep& sweep) {
  return Checker(sweep).Run();
}

}  // namespace hyperopt

// Early stopping: which trials go on. Written rules for NaN, ties, sparse reports and
// failures are in search/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/config.h"
#include "trial/ids.h"
#include "trial/objective.h"
#include "trial/record.h"

namespace hyperopt {

enum class Decision {
  kContinue,
  kStop,       // it is not worth going on
  kTarget,     // complete: it reached the value that was asked for
  kConverged,  // complete: its values no longer change, or no longer for the better
  kPause       // it has what it was launched for, and waits once its attempt has ended
};

// The decision and the rung entries to record with it, in the report's transaction.
struct Verdict {
  Decision decision = Decision::kContinue;
  std::vector<RungRow> entries;  // `order` is given by the scheduler
};

// A waiting trial that a free slot is for.
struct Promotion {
  TrialId trial;
  // Where set, it ends instead, and a new trial that is cloned from this one takes its
  // place.
  std::optional<TrialId> parent;
  int64_t after = 0;  // how many rung entries it was decided by
  bool operator==(const Promotion&) const = default;
};

// The rung levels below max_t, ascending: grace_period * reduction_factor^k while <
// max_t, for bracket s from k = s on. Multiplied in integers, never by a logarithm.
// REQUIRES: max_t >= grace_period >= 1, reduction_factor >= 2, bracket >= 0.
std::vector<int64_t> RungLevels(const SchedulerOptions& options, int bracket = 0);

// The rules that `options` name: those of kAny, else itself.
std::vector<SchedulerOptions> RulesOf(const SchedulerOptions& options);

// The rule that made an entry, and which of its brackets the entry's is: brackets of
// kAny are numbered over its rules one after another. REQUIRES: `bracket` is of one.
struct BracketsRule {
  SchedulerOptions rule;
  int32_t bracket = 0;
};
BracketsRule RuleOfBracket(const SchedulerOptions& options, int32_t bracket);

// Time at which a trial has run in full; nullopt where no rule has such a time.
std::optional<int64_t> MaxTime(const SchedulerOptions& options);

// Which recorded reports a restored scheduler must observe.
enum class CurvesNeeded {
  kNone,
  kOwn,  // those of the trials that are not finished
  kAll   // those of all trials
};
CurvesNeeded CurvesFor(const SchedulerOptions& options);

// How many trials of a great many go to each bracket, as relative numbers: the sizes
// that Hyperband gives them, ceil((M + 1) * reduction_factor^m / (m + 1)) for a bracket
// of m rungs, where bracket 0 has M. The last of M + 1 brackets has no rung and runs
// its trials in full; more brackets than that are left out. Never empty.
std::vector<uint64_t> BracketWeights(const SchedulerOptions& options);

// The bracket of a trial, by those weights: a function of (seed, trial), whatever else
// runs, so that a resumed sweep and a second one agree.
int BracketOf(const SchedulerOptions& options, uint64_t seed, TrialId trial);

// Decides without I/O; its state is a function of what it was told. Restore, and where
// CurvesFor says so Observe, bring back what was recorded: a restored scheduler decides
// as the undisturbed one.
// Thread-compatible.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // REQUIRES: called once, before anything else. `rungs` in order of arrival. Throws
  // EnvironmentError where they are of other options: a rung that there is not, a level
  // that differs, a trial twice in a rung.
  virtual void Restore(std::span<const RungRow> rungs) = 0;

  // A report that is not judged: one of the record (after Restore, in the order of
  // their commit across trials), or one that came after the trial was told to stop, by
  // whomever. It decides nothing and enters no rung; rules that look at curves count
  // it.
  virtual void Observe(TrialId trial, int64_t time, const Objective& value) = 0;

  // A report of a running trial: `time` units of time_attr are done. Values that are
  // NaN or infinite rank worst. A report without the objective (kMissing) is none: it
  // decides nothing, and the next one that has it is the first at or past the rung. A
  // time that is not past all earlier ones of the trial decides nothing either. After
  // another answer than kContinue every later report of the trial gets that answer and
  // enters no rung. A rule without rungs makes one entry: for the report at which it
  // ends the trial, at rung 0 with the report's time as its level; `stopped` is kStop.
  virtual Verdict OnMeasurement(TrialId trial,
                                int64_t time,
                                const Objective& value) = 0;

  // The trial failed for good: it is worst at its next rung. Returns the entry to
  // record, whose value is kMissing and whose time is the rung's level; none where no
  // rung is left, where it was told to stop, and where its newest entry is a failure
  // already, so that a repeated word and a rerun that fails again count once.
  virtual std::vector<RungRow> OnFailed(TrialId trial) = 0;

  // Time at which a trial has run in full; nullopt where there is no such time. A trial
  // at or past it is never told to stop: it is complete.
  virtual std::optional<int64_t> max_time() const = 0;

  // ---- of schedulers that run a trial in pieces; by default a trial is one piece ----
  // A piece ends with kPause; OnMeasurement is not called for the trial from there to
  // OnPromoted.

  // Time that the next launch of an unfinished trial is to run to; nullopt: its end.
  virtual std::optional<int64_t> Budget(TrialId /*trial*/) { return std::nullopt; }
  // The attempt that was answered kPause has ended, and the trial waits. Also after
  // Restore, for each that the record holds as paused; throws EnvironmentError where
  // no rung entry of it says what it waits for.
  virtual void OnPaused(TrialId /*trial*/) {}
  // The trial is finished, and waits no more. Also after Restore.
  virtual void OnEnded(TrialId /*trial*/) {}
  // Which waiting trial goes on first; `more`: there are trials not proposed yet, which
  // start where this is nullopt; without any, nobody else will come. Decides nothing by
  // itself.
  virtual std::optional<Promotion> NextPromotion(bool /*more*/) const {
    return std::nullopt;
  }
  // The waiting trial goes on.
  virtual void OnPromoted(TrialId /*trial*/) {}
  // `child` takes the place of the waiting `trial`, from a checkpoint of `parent` at
  // `time`. Returns the entry to record: those rungs are passed for the child.
  virtual std::vector<RungRow> OnReplaced(TrialId /*trial*/,
                                          TrialId /*child*/,
                                          TrialId /*parent*/,
                                          int64_t /*time*/) {
    return {};
  }
  // What a paused trial waits for, for a person; "" for one that does not wait.
  virtual std::string WaitsFor(TrialId /*trial*/) const { return ""; }
};

std::unique_ptr<Scheduler> MakeScheduler(const SchedulerOptions& options,
                                         Goal goal,
                                         uint64_t seed);

}  // namespace hyperopt

// Early stopping: which trials go on. Written rules for NaN, ties, sparse reports and
// failures are in search/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/config.h"
#include "trial/ids.h"
#include "trial/objective.h"
#include "trial/record.h"

namespace hyperopt {

enum class Decision { kContinue, kStop };

// The decision and the rung entries to record with it, in the report's transaction.
struct Verdict {
  Decision decision = Decision::kContinue;
  std::vector<RungRow> entries;  // `order` is given by the scheduler
};

// The rung levels below max_t, ascending: grace_period * reduction_factor^k while <
// max_t, for bracket s from k = s on. Multiplied in integers, never by a logarithm.
// REQUIRES: max_t >= grace_period >= 1, reduction_factor >= 2.
std::vector<int64_t> RungLevels(const SchedulerOptions& options, int bracket = 0);

// Decides without I/O; its state is a function of what it was told, and Restore brings
// back what was recorded: a restored scheduler decides as the undisturbed one.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // REQUIRES: called once, before anything else. `rungs` in order of arrival.
  virtual void Restore(std::span<const RungRow> rungs) = 0;

  // A report of a running trial: `time` units of time_attr are done. Values that are
  // NaN, infinite or missing rank worst. Reports of a trial come in rising time.
  virtual Verdict OnMeasurement(TrialId trial,
                                int64_t time,
                                const Objective& value) = 0;

  // The trial failed for good: it is worst at its next rung. Returns the entry to
  // record.
  virtual std::vector<RungRow> OnFailed(TrialId trial) = 0;

  // Time at which a trial has run in full; nullopt where there is no such time.
  virtual std::optional<int64_t> max_time() const = 0;
};

std::unique_ptr<Scheduler> MakeScheduler(const SchedulerOptions& options,
                                         Goal goal,
                                         uint64_t seed);

}  // namespace hyperopt

// A sweep whose curves are known, run again under another scheduler or in another
// order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/config.h"
#include "trial/ids.h"
#include "trial/objective.h"
#include "trial/state.h"

namespace hyperopt {

// What is known of a trial.
struct KnownCurve {
  struct Point {
    int64_t time = 0;      // in units of the scheduler's time_attr; -1: none
    double elapsed_s = 0;  // since the trial's start
    Objective value;
  };
  TrialId trial;
  std::vector<Point> points;  // in the order in which they came
  bool failed = false;        // it ended by failing
  bool cut_short = false;     // it was told to stop, or has not ended: it could go on
};

// Where a trial stands once it is over, or waits.
struct SimulatedEnd {
  TrialState state = TrialState::kCompleted;
  Objective value;   // by the configuration's rule
  int64_t time = 0;  // that it reached
};

// Says which trial starts next.
class StartOrder {
 public:
  virtual ~StartOrder() = default;
  // Whether Next may have one.
  virtual bool more() const = 0;
  // The place among the curves of one that it has not named before.
  virtual std::optional<size_t> Next() = 0;
  // Of a trial that it named; more than once where it waited and went on.
  virtual void Told(size_t curve, const SimulatedEnd& end) = 0;
};

struct SimulatedSweep {
  int64_t reports = 0;
  int64_t time = 0;         // the times that the trials reached, added up
  double trial_s = 0;       // the same in seconds
  double wall_s = 0;        // from the first start to the last end
  int64_t ended_early = 0;  // before the end of what is known of them, max_t included
  std::optional<TrialId> best;
  Objective value;  // of the best, by the configuration's rule
  // The trials in the order in which they started, and what came of each.
  std::vector<TrialId> order;
  std::vector<Objective> values;
  // Trials that the scheduler let go on, and whose curve was cut short: what they would
  // have come to is not known.
  std::vector<TrialId> beyond;
};

// Starts the trials in the order of `curves`, `concurrency` at once; a stopped trial's
// place is free at once. Reports come at their seconds, or where none are known at
// their times. One that waits goes on where it stood: as from a checkpoint of its last
// report. Uses goal, value, scheduler and sampler.seed of the configuration.
// REQUIRES: concurrency >= 1, and a scheduler that copies no trial.
SimulatedSweep Simulate(std::span<const KnownCurve> curves,
                        const SearchConfig& config,
                        int64_t concurrency);
// The same in another order, and of those trials alone that it names.
SimulatedSweep Simulate(std::span<const KnownCurve> curves,
                        const SearchConfig& config,
                        int64_t concurrency,
                        StartOrder* order);

}  // namespace hyperopt

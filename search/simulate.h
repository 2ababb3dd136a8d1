// A sweep whose curves are known, run again under another scheduler.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/config.h"
#include "trial/ids.h"
#include "trial/objective.h"

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

struct SimulatedSweep {
  int64_t reports = 0;
  int64_t time = 0;         // the times that the trials reached, added up
  double trial_s = 0;       // the same in seconds
  double wall_s = 0;        // from the first start to the last end
  int64_t ended_early = 0;  // before the end of what is known of them, max_t included
  std::optional<TrialId> best;
  Objective value;  // of the best, by the configuration's rule
  // Trials that the scheduler let go on, and whose curve was cut short: what they would
  // have come to is not known.
  std::vector<TrialId> beyond;
};

// Starts the trials in the order of `curves`, `concurrency` at once; a stopped trial's
// place is free at once. Reports come at their seconds, or where none are known at
// their times. Uses goal, value, scheduler and sampler.seed of the configuration.
// REQUIRES: concurrency >= 1.
SimulatedSweep Simulate(std::span<const KnownCurve> curves,
                        const SearchConfig& config,
                        int64_t concurrency);

}  // namespace hyperopt

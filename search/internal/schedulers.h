// The schedulers that MakeScheduler chooses from.
#pragma once

#include <cstdint>
#include <memory>

#include "search/scheduler.h"

namespace hyperopt::internal {

// Every trial runs until it ends by itself.
std::unique_ptr<Scheduler> MakeFifo();

// ASHA in stopping mode (Li et al. 2020, in the form of Ray Tune and Determined): a
// trial never waits; at each rung it goes on or ends, by the values that came before
// it.
std::unique_ptr<Scheduler> MakeAshaStopping(const SchedulerOptions& options,
                                            Goal goal,
                                            uint64_t seed);

// Ray Tune's median stopping rule (Golovin et al. 2017): a trial ends whose best value
// is worse than the median of the others' running means at the same time.
std::unique_ptr<Scheduler> MakeMedianStopping(const SchedulerOptions& options,
                                              Goal goal);

// Rules that look at one trial alone, and end it as complete.
std::unique_ptr<Scheduler> MakePatience(const SchedulerOptions& options, Goal goal);
std::unique_ptr<Scheduler> MakePlateau(const SchedulerOptions& options, Goal goal);
std::unique_ptr<Scheduler> MakeTarget(const SchedulerOptions& options, Goal goal);

// ASHA in promotion mode (Li et al. 2020, in the form of Syne Tune): a trial runs to a
// rung and waits there; a free slot goes to the best waiting one of the highest rung
// that is among the best of its rung.
std::unique_ptr<Scheduler> MakeAshaPromotion(const SchedulerOptions& options,
                                             Goal goal,
                                             uint64_t seed);

// Population based training (Jaderberg et al. 2017): at the end of each interval a
// trial among the worst gives its place to a changed copy of one among the best.
std::unique_ptr<Scheduler> MakePbt(const SchedulerOptions& options,
                                   Goal goal,
                                   uint64_t seed);

// Ends a trial when one of its rules does. The brackets of its rules are numbered one
// after another.
std::unique_ptr<Scheduler> MakeAny(const SchedulerOptions& options,
                                   Goal goal,
                                   uint64_t seed);

}  // namespace hyperopt::internal

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

}  // namespace hyperopt::internal

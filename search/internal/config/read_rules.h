// The keys of the early-stopping rules that look at curves.
#pragma once

#include <string_view>

#include "search/config.h"
#include "search/internal/config/problems.h"
#include "search/internal/config/section.h"

namespace hyperopt::internal {

inline constexpr int64_t kMostTime = int64_t{1} << 53;

// Reads the keys of options->kind, kMedian to kTarget, but for `time_attr`, which has
// been read. `type` is the kind's name as it was written.
void ReadCurveRule(Section& scheduler,
                   std::string_view type,
                   Problems& problems,
                   SchedulerOptions* options);

}  // namespace hyperopt::internal

// Values for what is left open, so that all constraints of a space hold.
#pragma once

#include <cstdint>
#include <optional>

#include "samplers/sampler.h"

namespace hyperopt::internal {

// `given` in the types of its domains, and each other parameter drawn from a stream of
// its own (seed, key, its name), without what takes no part. Where a constraint does
// not hold, all that is not given is drawn anew, up to `draws` times; nullopt where
// none of these holds. So a space without constraints is drawn as one value each.
std::optional<Params> Fill(const SearchSpace& space,
                           Params given,
                           uint64_t seed,
                           TrialId key,
                           int draws = 100'000);

// What keeps `Fill` from finding anything in a space: the constraints that failed, with
// how often. nullopt where at least one draw in a thousand is good.
std::optional<std::string> ProblemWithConstraints(const SearchSpace& space,
                                                  uint64_t seed);

}  // namespace hyperopt::internal

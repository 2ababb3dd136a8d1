// Covariance matrix adaptation (Hansen 2016, "The CMA Evolution Strategy: A Tutorial"):
// a normal distribution over the space that moves, turns and shrinks towards what was
// good. Of numbers alone: a category has no direction.
#pragma once

#include <memory>

#include "samplers/internal/model_sampler.h"

namespace hyperopt::internal {

// The state is that of the ended trials, in groups of a generation's size in the order
// in which they ended; the better half of the first ones says where it begins. A row
// that was not drawn from the distribution (of a trial that was proposed earlier, or
// given) pulls no further than one that was (Hansen 2011, "Injecting external
// solutions"). Where the distribution has shrunk to nothing it begins anew elsewhere.
// `encoding` must outlive it. REQUIRES: no axis is categorical.
std::unique_ptr<Proposer> MakeCmaesProposer(const Encoding& encoding, uint64_t seed);

}  // namespace hyperopt::internal

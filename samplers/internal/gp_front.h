// Bayesian optimisation of several objectives: a Gaussian process each, expected
// hypervolume improvement over their front. samplers/README.md has the rules.
#pragma once

#include <memory>

#include "samplers/internal/model_sampler.h"

namespace hyperopt::internal {

// With more the boxes are many; then one norm of all is modelled (ParEGO).
constexpr size_t kMostFrontObjectives = 3;

// Observations with `objectives` - 1 others. `encoding` must outlive it.
std::unique_ptr<Proposer> MakeGpFrontProposer(const Encoding& encoding,
                                              size_t objectives,
                                              uint64_t seed);

// The point below which volume counts: in each objective worse than the worst of the
// front by a tenth of its range, and by 0.1 at least (objectives are warped to variance
// 1), so that a front of one point has room beside it. REQUIRES: not empty.
Point ReferenceOf(std::span<const Point> front);

}  // namespace hyperopt::internal

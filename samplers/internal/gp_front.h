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

}  // namespace hyperopt::internal

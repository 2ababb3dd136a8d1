// Bayesian optimisation with Gaussian processes: outputs warped, hyperparameters
// averaged over, log expected improvement, pending trials believed, an optimiser for
// spaces of numbers and categories. samplers/README.md has the rules.
#pragma once

#include <memory>

#include "samplers/internal/model_sampler.h"

namespace hyperopt::internal {

// `encoding` must outlive it.
std::unique_ptr<Proposer> MakeGpProposer(const Encoding& encoding, uint64_t seed);

}  // namespace hyperopt::internal

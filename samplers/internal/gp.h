// Bayesian optimisation with Gaussian processes: outputs warped, hyperparameters
// averaged over, log expected improvement, pending trials believed, an optimiser for
// spaces of numbers and categories. samplers/README.md has the rules.
#pragma once

#include <memory>

#include "samplers/internal/model_sampler.h"

namespace hyperopt::internal {

// The number of observations that hyperparameters are fitted on where there are n: n up
// to 32, beyond the greatest of fixed sizes, each 1.25 times the last, that is not over
// n. So they stay a function of the history and are seldom fitted anew.
size_t PrefixOf(size_t n);

// `encoding` must outlive it.
std::unique_ptr<Proposer> MakeGpProposer(const Encoding& encoding, uint64_t seed);

}  // namespace hyperopt::internal

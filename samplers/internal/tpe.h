// Tree-structured Parzen estimators (Bergstra et al. 2011), multivariate: the good
// trials and the others each give a mixture density l and g, and a setting is as
// promising as l / g. Notation and rules are in samplers/README.md.
#pragma once

#include <memory>

#include "samplers/internal/model_sampler.h"

namespace hyperopt::internal {

// `encoding` must outlive it.
std::unique_ptr<Proposer> MakeTpeProposer(const Encoding& encoding, uint64_t seed);

}  // namespace hyperopt::internal

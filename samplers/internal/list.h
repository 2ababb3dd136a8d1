// A list of settings that somebody wrote down: trial i is row i.
#pragma once

#include <memory>

#include "samplers/sampler.h"

namespace hyperopt::internal {

// REQUIRES: ProblemsWith(space, options) is empty.
std::unique_ptr<Sampler> MakeListSampler(const SearchSpace& space,
                                         const SamplerOptions& options);

}  // namespace hyperopt::internal

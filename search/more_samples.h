// How far `add --trials N` and `resume --trials +N` may go.
#pragma once

#include <cstdint>

#include "samplers/sampler.h"

namespace hyperopt {

// The num_samples that `more` (1 or more) make of those of `options`; a list's is at
// most its rows. Throws ConfigError where there would be more trials than any sweep may
// have, and where all rows of a list are planned already, saying the way out.
int64_t SamplesAfter(const SamplerOptions& options, int64_t more);

}  // namespace hyperopt

// What population based training changes in the copy of a trial.
#pragma once

#include <cstdint>

#include "search/config.h"
#include "trial/ids.h"
#include "trial/param_value.h"
#include "trial/rng.h"
#include "trial/space.h"

namespace hyperopt {

// The parameters of `child`, a copy of a trial with `parent`'s: a function of (seed,
// child, parent's) alone. Every value lies in its domain; a parameter that the options
// do not name, and one whose parent's value lies outside of its domain (given by hand),
// keeps the parent's.
Params Mutate(const SearchSpace& space,
              const PbtOptions& options,
              const Params& parent,
              uint64_t seed,
              TrialId child);

// One value, with draws from `rng`: with resample_probability a draw from the domain,
// else a number's neighbour by one of the factors, or a list's neighbour.
ParamValue MutateValue(const Domain& domain,
                       const PbtOptions& options,
                       const ParamValue& value,
                       Rng& rng);

}  // namespace hyperopt

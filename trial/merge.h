// A trial's configuration: the model's keys with the sampled values merged in by
// Ludwig's naming rules (reference: Ludwig's substitute_parameters).
#pragma once

#include <string>
#include <string_view>

#include "trial/param_value.h"
#include "trial/space.h"

namespace hyperopt {

// `model` is a JSON object. Values are merged in the order of `space`; maps are merged,
// lists and scalars replaced, null overwrites; "." merges its value into the whole; the
// first part of a dotted name that is an input feature's name, else an output
// feature's, is routed into it. Returns compact JSON whose floats YAML 1.1 reads as
// numbers. Throws ConfigError where a name leads through a value that is no map.
std::string MergeConfig(std::string_view model,
                        const SearchSpace& space,
                        const Params& params);

}  // namespace hyperopt

// What a sweep would have been with another scheduler or sampler.
#pragma once

#include <string>
#include <string_view>

#include "search/commands/recorded_sweep.h"

namespace hyperopt {

// The sweep's configuration, its configurations run once, with `text` (a type alone, or
// a map) at `key`. Throws ConfigErrors, said of the `option` that was typed.
SearchConfig ConfigInstead(const RecordedSweep& sweep,
                           std::string_view option,
                           const std::string& key,
                           std::string text);

}  // namespace hyperopt

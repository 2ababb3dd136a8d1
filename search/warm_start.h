// `search_alg.warm_start`: a sampler begins from the results of earlier sweeps.
#pragma once

#include <string>
#include <vector>

#include "search/config.h"

namespace hyperopt {

// At most so many trials of each sweep: the best half, and the newest of the others.
inline constexpr size_t kMostWarm = 1000;

// Reads the records that config->warm_start names and adds what fits the space to
// config->sampler.known. A parameter that the search does not have is left out of a
// trial; a trial that lacks one, or has a value out of its range, is left out whole.
// Returns a line a sweep for the user, with what was left out and why. Throws
// ConfigError where there is no sweep, or its goal is another one.
std::vector<std::string> ReadWarmStart(SearchConfig* config);

// The same from a search that went on from its record: what was read when it began,
// whatever has become of those sweeps.
void TakeWarmStart(const SearchConfig& recorded, SearchConfig* config);

}  // namespace hyperopt

// What was best after so many trials.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "search/commands/sweep_facts.h"

namespace hyperopt {

// A point a trial from the first that counts on, two where it changes: steps. Where
// configurations are repeated it is the mean of the best of them, by the repeats so
// far, which may grow worse.
std::vector<std::pair<int64_t, double>> BestSoFarOf(const SweepFacts& facts);

// Lines for a terminal of `width` columns.
std::vector<std::string> BestSoFarPlot(const SweepFacts& facts, size_t width);

}  // namespace hyperopt

// Trials in a table for a person: a row each, a column a parameter.
#pragma once

#include <string>
#include <vector>

#include "search/commands/sweep_facts.h"

namespace hyperopt {

// No line is wider than `width`.
std::string TrialsTable(const SweepFacts& facts,
                        const std::vector<TrialRow>& rows,
                        size_t width);

}  // namespace hyperopt

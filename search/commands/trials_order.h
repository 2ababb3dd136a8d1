// Which trials `hyperopt trials` shows, in which order.
#pragma once

#include <vector>

#include "search/commands/look.h"
#include "search/commands/sweep_facts.h"

namespace hyperopt {

// Throws ConfigError for a --sort that is no name, saying which there are.
std::vector<TrialRow> OrderedTrials(const SweepFacts& facts,
                                    const TrialsOptions& options);

}  // namespace hyperopt

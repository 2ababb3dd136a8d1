// The line that runs a trial's very command by hand.
#pragma once

#include <string>
#include <vector>

#include "executors/keeper.h"
#include "search/commands/trial_facts.h"

namespace hyperopt {

// What the first process of the trial's newest attempt was told: words, folder,
// variables. REQUIRES: the trial was started.
RankSpec FirstRank(const TrialFacts& facts);

// For a POSIX shell whose environment is `environment` ("NAME=value"): the command of
// the trial's newest attempt with its words, folder, variables and devices. It gets a
// folder of its own, by-hand beside the attempts', so that nothing recorded is touched.
// A variable that the search file takes from the host is named, its value never shown.
// "" where the trial never started, or its files are on another machine.
std::string ByHandLine(const TrialFacts& facts,
                       const std::vector<std::string>& environment);

}  // namespace hyperopt

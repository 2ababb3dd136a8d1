// The verdicts of a scheduler whose trials wait: rung entries, and what went on from
// there, held to what a fresh scheduler makes of them.
#pragma once

#include <functional>
#include <string>

#include "search/commands/recorded_sweep.h"
#include "trial/ids.h"

namespace hyperopt {

// Calls back for each difference. REQUIRES: sweep.config.scheduler.pieces().
void CheckPieces(const RecordedSweep& sweep,
                 const std::function<void(TrialId, const std::string&)>& differ);

}  // namespace hyperopt

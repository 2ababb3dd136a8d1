// Runs that stand by, as a record tells them: handed out early, each behind one that
// runs, and not begun. Their trials' rows say running; to whoever looks they wait.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

// RunRow::placement of a run that stands behind `before`; who one stands behind.
std::string PlacedBehind(const std::string& placement, const RunKey& before);
std::optional<RunKey> StandsBehind(const std::string& placement);

// Those of `trials` that stand by. Reads the runs of trials that run, no others but
// those they stand behind.
std::set<TrialId> StandingBy(const TrialStore& store,
                             const std::vector<TrialRow>& trials);

// Makes it pending, as if it had not been handed out yet.
void MakeWaiting(TrialRow* row);

}  // namespace hyperopt

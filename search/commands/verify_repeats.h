// Repeats of configurations, decided again from a record.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "search/commands/recorded_sweep.h"

namespace hyperopt {

// Whether each repeat was due when it began, none was due when a configuration was
// proposed, and a repeat has the parameters of its configuration: of the trials from
// `first` up to `end`, which are of one era. Tells of each that is not so.
void CheckRepeats(const RecordedSweep& sweep,
                  const SearchConfig& config,
                  int64_t first,
                  int64_t end,
                  const std::function<void(TrialId, const std::string&)>& differ);

}  // namespace hyperopt

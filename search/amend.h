// `--amend`: a sweep goes on under an edited search file. Its trials stay as history,
// new ones are proposed from the new ranges.
#pragma once

#include <string>
#include <vector>

#include "search/config.h"
#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

// Whether a setting that is refused otherwise may change: what is searched and how
// proposals are made, and the command that takes them. Not what makes the values of old
// and new trials incomparable.
bool MayBeAmended(const std::string& setting);

// Begins an era (proposals.h) in `record`: its sweep row gets the words of the old file
// and which proposals of a grid have run. `config` is the new file with its limits. The
// lines for a person name what was added, removed and changed, and say how many
// proposals are left.
std::vector<std::string> BeginEra(const SearchConfig& old,
                                  const SearchConfig& config,
                                  const TrialStore& store,
                                  RecordSnapshot* record);

}  // namespace hyperopt

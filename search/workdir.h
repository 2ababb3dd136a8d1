// Whether there is a place for a sweep's trials to run in.
#pragma once

#include "search/config.h"

namespace hyperopt {

// For a sweep that would begin in the current folder, before anything of it is made.
// Throws ConfigError where `workdir` names a folder that is not there, and for
// `workdir: snapshot` where there is nothing to copy, as MakeSnapshot.
void RequireWorkdir(const SearchConfig& config);

}  // namespace hyperopt

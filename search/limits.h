// The limits of a sweep that may be changed while it lives (`hyperopt set`), and how
// they outlast a restart.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "search/change_request.h"
#include "search/config.h"
#include "trial/record.h"

namespace hyperopt {

// Names as in hyperopt.executor, and `gpus`; values as YAML text, null for no limit.
using LimitTexts = std::map<std::string, std::string>;

// The whole change out of single ones. `now` is what holds in the sweep, `sweep` its
// row. Throws ConfigError: a name that is no such limit, with the way out; a value that
// is wrong.
SetLimits ReadLimits(const LimitTexts& wanted,
                     const SearchConfig& now,
                     const SweepRow& sweep);

// What was set earlier, put into a search file's `config`. Where the file says
// something else there than when it was set, the file wins: such a limit is forgotten
// and named in the result, a line each.
std::vector<std::string> ApplyLimits(SweepRow* sweep, SearchConfig* config);

}  // namespace hyperopt

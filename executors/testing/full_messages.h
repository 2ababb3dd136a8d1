// One message of each kind with every field set, to values that are hard to carry.
#pragma once

#include <vector>

#include "executors/messages.h"

namespace hyperopt::testing {

inline const RunKey kFullKey{TrialId(1'234'567'890'123), RunId(3), Attempt(7)};

std::vector<ToExecutor> FullToExecutor();
std::vector<FromExecutor> FullFromExecutor();

}  // namespace hyperopt::testing

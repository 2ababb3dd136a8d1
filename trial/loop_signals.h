// The signals that the loops of controller and executor take as events.
#pragma once

#include "trial/fs.h"

namespace hyperopt {

// Blocks SIGTERM, SIGINT, SIGHUP and SIGCHLD in the calling thread, and in those that
// it starts from now on, and gives a descriptor (signalfd, not blocking) that reads
// them.
UniqueFd BlockLoopSignals();

}  // namespace hyperopt

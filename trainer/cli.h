// The program hyperopt-train.
#pragma once

#include <atomic>

namespace hyperopt {

// Runs it and returns its exit code: 0 done, stopped or diverged; 2 a config, data or
// usage that can not be used; 3 the environment failed. `stop` may be set from a signal
// handler at any time.
int RunTrainer(int argc, char** argv, const std::atomic<bool>& stop);

}  // namespace hyperopt

// Starts one rank.
#pragma once

#include <sys/types.h>

#include <string>

#include "executors/keeper.h"

namespace hyperopt {

struct SpawnResult {
  pid_t pid = -1;     // the leader of a new session; -1 where it did not start
  std::string error;  // then: the program, what is wrong, and the way out
};

// REQUIRES: the calling process has one thread and every descriptor of its own above 2
// is close-on-exec. `token` becomes HYPEROPT_TOKEN, whatever spec.env says.
SpawnResult StartRank(const RankSpec& spec, const std::string& token);

}  // namespace hyperopt

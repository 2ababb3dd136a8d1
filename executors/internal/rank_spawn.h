// Starts one rank.
#pragma once

#include <sys/types.h>

#include <string>

#include "executors/keeper.h"

namespace hyperopt {

// The names (15 bytes) of a keeper's process, and, while it spawns, of the keeper and
// of the rank between fork and exec: that one has no token yet, and must be found where
// its keeper dies in that moment.
std::string KeeperComm(const std::string& sweep_id);
std::string UnbornComm(const std::string& sweep_id);

struct SpawnResult {
  pid_t pid = -1;     // the leader of a new session; -1 where it did not start
  std::string error;  // then: the program, what is wrong, and the way out
};

// REQUIRES: the calling process has one thread and every descriptor of its own above 2
// is close-on-exec. `token` becomes HYPEROPT_TOKEN, whatever spec.env says.
SpawnResult StartRank(const RankSpec& spec, const std::string& token);

}  // namespace hyperopt

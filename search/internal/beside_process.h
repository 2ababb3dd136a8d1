// A process of this program that stands beside a sweep and lives as long: a dashboard,
// a logger. What it does, and what befalls it, is no matter of the sweep.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "trial/fs.h"

namespace hyperopt::internal {

struct BesideProcess {
  pid_t pid = 0;
  UniqueFd life;   // its stdin: closed when this process is gone, however that ends
  UniqueFd words;  // what it prints, on stdout and stderr
};

// `words` after the program's name. In a session of its own: Ctrl-C is for the sweep.
// No signal is blocked in it. Throws EnvironmentError.
BesideProcess StartBeside(std::vector<std::string> words);

}  // namespace hyperopt::internal

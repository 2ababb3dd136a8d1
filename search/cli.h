// The command line of `hyperopt`.
#pragma once

#include <string>
#include <vector>

namespace hyperopt {

// Parses the words (the first is the program's name) and runs what they name. Returns
// the exit code; errors of the command line are on stderr. Errors of what runs are
// thrown (trial/errors.h).
int RunCli(const std::vector<std::string>& words);

}  // namespace hyperopt

// Ludwig's command line, as its users type it.
#pragma once

#include <string>
#include <vector>

namespace hyperopt::internal {

// `-cs` and its like (two letters after one dash) as the long flags they stand for.
// Throws ConfigError for a flag of Ludwig's that has no use here, naming the way to the
// same end.
std::vector<std::string> TranslateLudwigFlags(std::vector<std::string> words);

}  // namespace hyperopt::internal

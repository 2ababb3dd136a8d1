// Whether a record is what its own history demands.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "search/commands/recorded_sweep.h"

namespace hyperopt {

// Every difference, a line each: a proposal that a fresh sampler does not make, a rung
// verdict that a fresh scheduler does not give for the recorded reports, a best value
// or a count that the reports do not give. `most`: so many lines, then one that counts
// the rest.
std::vector<std::string> VerifySweep(const RecordedSweep& sweep, size_t most = 100);

struct VerifyOptions {
  std::optional<std::filesystem::path> dir;
};
// 0 where nothing differs, else 1.
int VerifyCommand(const VerifyOptions& options);

}  // namespace hyperopt

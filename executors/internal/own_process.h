// An executor's own process: who it was in its former life, and its next one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trial/ids.h"

namespace hyperopt {

// executor.id holds "<sweep id> <executor id>". "" and nullopt where there is none; the
// id counts within `sweep_id` only ("": in any).
std::string SweepOfIdFile(const std::filesystem::path& file);
std::optional<ExecutorId> ReadIdFile(const std::filesystem::path& file,
                                     const std::string& sweep_id);

// Runs this program again in this process with the words that it was started with, less
// often than once a second. Does not come back but to throw EnvironmentError.
[[noreturn]] void StartAnew(std::vector<std::string> words, double lived_s);

}  // namespace hyperopt

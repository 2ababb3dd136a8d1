// Which sweep a command is about.
#pragma once

#include <filesystem>
#include <optional>

namespace hyperopt {

// `dir`, else the newest sweep under results/. Throws ConfigError where there is none,
// saying what to do.
std::filesystem::path SweepDirOf(const std::optional<std::filesystem::path>& dir);

}  // namespace hyperopt

// The built-in trainer's own check of a model's keys and data, before any trial starts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "search/config.h"
#include "trial/param_value.h"

namespace hyperopt {

// hyperopt-train beside this program; nullopt where it was not built.
std::optional<std::filesystem::path> FindTrainer();

// The built-in trainer as a trial's command: the trainer and the table it reads.
// Throws ConfigError where it was not built.
std::vector<std::string> TrainerCommand(const SearchConfig& config);

// What the trainer finds wrong with the configuration of `params`, and whether it
// reports the metric; a line each. Empty where all is well. REQUIRES: the file has no
// `command`. Throws EnvironmentError where the trainer can not be run.
std::vector<std::string> CheckModel(const SearchConfig& config, const Params& params);
// As CheckModel; throws ConfigErrors with the lines.
void RequireGoodModel(const SearchConfig& config, const Params& params);

}  // namespace hyperopt

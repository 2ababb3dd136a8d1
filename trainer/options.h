// How hyperopt-train is told what to do: flags, and the environment of a trial.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "trainer/train.h"

namespace hyperopt {

struct TrainerOptions {
  std::filesystem::path config;                      // --config, HYPEROPT_CONFIG
  std::optional<std::filesystem::path> dataset;      // --dataset
  std::optional<std::filesystem::path> report;       // --report, HYPEROPT_REPORT
  std::optional<std::filesystem::path> checkpoints;  // HYPEROPT_CHECKPOINT_DIR
  std::optional<std::filesystem::path> resume_from;  // HYPEROPT_RESUME_FROM
  uint64_t seed = 42;                                // --seed, HYPEROPT_SEED
  std::optional<int64_t> budget;                     // --budget, HYPEROPT_BUDGET
  std::string trial;                                 // HYPEROPT_TRIAL
  RankSpec rank;  // RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT
  bool check = false;
  bool json = false;
};

// The value of an environment variable; nullptr where it is not set.
using GetEnv = std::function<const char*(const char* name)>;

// What the environment alone says. Throws ConfigError that names every variable which
// can not be used.
TrainerOptions OptionsFromEnvironment(const GetEnv& get);

}  // namespace hyperopt

// A table, a config and a folder in which tests run the real hyperopt-train.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/testing/rank_process.h"

namespace hyperopt {

// All feature types, with targets that can be learned from TrainBench's table.
nlohmann::ordered_json TrainBenchConfig();

struct TrainBench {
  using Env = std::map<std::string, std::string>;

  TestFolder folder;
  nlohmann::ordered_json config = TrainBenchConfig();
  std::filesystem::path config_path;

  // The table (200 rows: 155 to train on, 20 to validate, 25 to test) and `config`.
  void WriteFiles();
  // The environment of a trial whose files are called after `name`.
  Env EnvOf(const std::string& name) const;
  std::vector<RankProcess> Start(const std::string& name, int ranks, Env env) const;
  // Starts them and waits; their exit codes.
  std::vector<int> Run(const std::string& name, int ranks, const Env& env) const;
  std::vector<float> Weights(const std::string& name, int step) const;
  std::string Log(const std::string& name) const;
};

}  // namespace hyperopt

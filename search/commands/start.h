// What starts work: a sweep, its resumption, an executor elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "executors/local_resources.h"
#include "executors/messages.h"
#include "search/config.h"

namespace hyperopt {

// How a search file is named and changed on the command line.
struct ConfigOptions {
  std::optional<std::filesystem::path> file;  // --config, or `run FILE`
  std::optional<std::string> text;            // --config_str
  std::optional<std::filesystem::path> dataset;
  std::vector<std::string> set;         // "key=value"
  std::optional<uint64_t> random_seed;  // search_alg.random_state
};
// Throws ConfigError, ConfigErrors.
SearchConfig LoadConfig(const ConfigOptions& options);
// `set` and `random_seed`. Throws ConfigError where one is no key=value.
std::vector<Override> OverridesOf(const ConfigOptions& options);

struct StartOptions {
  bool json = false;
  bool quiet = false;
  ResourceFlags resources;  // of the executor on this machine
  bool local_executor = true;
  std::optional<std::string> listen;
  std::optional<std::filesystem::path> key_file;
  std::optional<int> dashboard;  // the port of a page beside the sweep
};

struct RunOptions;  // run.h
// Throws ConfigError where no one would be left to run a trial.
void ApplyStart(const StartOptions& start, RunOptions* run);

struct RunCommandOptions {
  ConfigOptions config;
  std::optional<std::filesystem::path> output;            // the sweep's folder
  std::optional<std::filesystem::path> output_directory;  // Ludwig's two parts of it
  std::optional<std::string> experiment_name;
  bool fresh = false;
  bool amend = false;  // go on with the sweep under an edited file
  bool dry_run = false;
  StartOptions start;
};
int RunCommand(const RunCommandOptions& options);

struct ResumeOptions {
  std::optional<std::filesystem::path> dir;
  int64_t more_samples = 0;  // --trials +N
  bool rerun_failed = false;
  StartOptions start;
};
int ResumeCommand(const ResumeOptions& options);

struct ExecutorCommandOptions {
  std::string endpoint;
  std::optional<std::filesystem::path> key_file;
  std::string name = "executor";
  std::optional<LostPolicy> mode;  // --mode stop|finish; absent: finish
  ResourceFlags resources;
  // Where a controller started it as its child.
  std::optional<std::filesystem::path> embedded;
  std::optional<std::filesystem::path> state_dir;
  std::string sweep_id;
  bool fresh_record = false;
  std::vector<std::string> own_command;
};
int ExecutorCommand(const ExecutorCommandOptions& options);

}  // namespace hyperopt

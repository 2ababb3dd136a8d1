// `hyperopt import`: the trials of another program as a finished sweep, so that report,
// trials, best, show and export work on them. Nothing of it can be run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trial/json.h"
#include "trial/record.h"

namespace hyperopt {

struct ImportedTrial {
  Params params;
  TrialState state = TrialState::kCompleted;
  Reason reason = Reason::kNone;
  std::string detail;
  std::optional<double> value;  // what ranks; nullopt: none
  // Its reports: by step the fields, the metric among them.
  std::map<int64_t, std::map<std::string, double>> reports;
  WallTime started = 0, ended = 0;  // 0: not known
};

struct ImportedSweep {
  std::string name;
  std::string from;  // "Optuna", "Ludwig"
  std::string metric = "value";
  Goal goal = Goal::kMinimize;
  std::string parameters;  // as hyperopt.parameters of a search file, JSON
  std::vector<ImportedTrial> trials;
  std::vector<std::string> notes;  // what could not be taken over
};

// Ludwig's hyperopt_statistics.json, in the forms of its versions since 0.5. Throws
// ConfigError where `json` is none.
ImportedSweep ImportLudwig(const OrderedJson& json);
// A study of an Optuna SQLite storage; `study` "": the only one. Throws ConfigError
// where there is none of that name, or the storage is another version's.
ImportedSweep ImportOptuna(const std::filesystem::path& file, const std::string& study);

// The search file that such a sweep would have had. Where `parameters` is not
// understood, ranges are those of the values.
std::string ImportedConfig(ImportedSweep* sweep, const std::string& name);
// Makes `dir`, which must not hold a sweep.
void WriteImported(const ImportedSweep& sweep,
                   const std::string& config,
                   const std::filesystem::path& file,
                   const std::filesystem::path& dir);

struct ImportOptions {
  std::filesystem::path file;
  std::optional<std::filesystem::path> output;  // absent: results/<name>
  std::string study;
};
int ImportCommand(const ImportOptions& options);

}  // namespace hyperopt

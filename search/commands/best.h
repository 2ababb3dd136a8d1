// The best trial: what it is, where its checkpoint lies, and best.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "search/commands/best_format.h"
#include "search/commands/recorded_sweep.h"
#include "search/repeats.h"
#include "trial/json.h"
#include "trial/objective.h"
#include "trial/param_value.h"

namespace hyperopt {

struct BestTrial {
  TrialId trial;
  TrialState state = TrialState::kPending;
  Objective value;
  int64_t step = 0;
  Params params;
  std::string config;                 // merged, JSON text
  std::filesystem::path folder;       // of its newest attempt, absolute
  std::filesystem::path config_file;  // what its ranks were given, absolute
  // A complete checkpoint: of `step` where there is one, else the newest; "" where the
  // trial left none.
  std::filesystem::path checkpoint;
  int64_t checkpoint_step = 0;
  // Where configurations are repeated: `value` is its mean, the trial its best.
  std::optional<Standing> standing;
};

// nullopt where no trial has a finite value yet.
std::optional<BestTrial> FindBestTrial(const RecordedSweep& sweep);

// With repeats also "repeats", as StandingToJson.
// {"trial", "state", "metric", "goal", "value", "step", "params", "config": {...},
//  "config_file", "folder", "checkpoint": path or null, "checkpoint_step"}; with
//  several
// objectives the best by the first of them, and "front": [{"trial", "values": {...},
// "params"}], the trials that no other beats in all.
OrderedJson BestToJson(const RecordedSweep& sweep, const BestTrial& best);

// Writes <dir>/best.json, whole or not at all; where there is no best trial it writes
// nothing and returns nullopt.
std::optional<BestTrial> WriteBest(const std::filesystem::path& dir);

struct BestOptions {
  std::optional<std::filesystem::path> dir;
  bool json = false;
  std::optional<BestFormat> format;  // for a program, and nothing else on stdout
  std::optional<int64_t> top;        // a table of so many
};
// Prints the best trial; without `format` and `top` writes best.json too. 1 where there
// is none yet.
int BestCommand(const BestOptions& options);

}  // namespace hyperopt

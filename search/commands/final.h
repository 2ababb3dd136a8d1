// `hyperopt final`: the best settings once more, each with several seeds, to the end.
//
// The runs are a sweep of their own in <dir>/final, so that they are recorded, resumed
// and looked at as any other, and change nothing of the sweep they come from: neither
// its best, nor its rungs, nor what its sampler has learnt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/commands/recorded_sweep.h"
#include "search/commands/start.h"

namespace hyperopt {

// Settings of the sweep that are run once more.
struct Finalist {
  TrialId trial;  // of the sweep
  Objective value;
  Params params;
};
// At most `top`, best first, each once.
std::vector<Finalist> FindFinalists(const RecordedSweep& sweep, int64_t top);

// The search file of the runs: finalist after finalist, each `seeds` times; nothing is
// stopped early, a scheduler's max_t still ends a trial.
SearchConfig FinalConfig(const RecordedSweep& sweep,
                         std::span<const Finalist> finalists,
                         int64_t seeds,
                         const std::vector<Override>& overrides);

// What the runs of one finalist came to.
struct FinalResult {
  Finalist finalist;
  std::vector<TrialId> runs;   // of the final sweep
  std::vector<double> values;  // finite ones, of runs that did not fail
  int64_t missing = 0;         // runs without one
  double mean = 0;             // of `values`; NaN where there is none
  double deviation = 0;        // of the sample; 0 for one value
};
// Best first: fewer missing ones, then the mean.
std::vector<FinalResult> FinalResults(const RecordedSweep& final_sweep,
                                      std::span<const Finalist> finalists,
                                      int64_t seeds);

// Writes <dir>/best/ for the first of `results`: best.json, params.json, config.json,
// command.json (the words), and code.diff where the code was not committed. Returns the
// folder.
std::filesystem::path WriteWinner(const RecordedSweep& sweep,
                                  const RecordedSweep& final_sweep,
                                  std::span<const FinalResult> results);

struct FinalOptions {
  std::optional<std::filesystem::path> dir;
  int64_t top = 3;
  int64_t seeds = 5;
  std::vector<std::string> set;  // "key=value"
  StartOptions start;
};
int FinalCommand(const FinalOptions& options);

}  // namespace hyperopt

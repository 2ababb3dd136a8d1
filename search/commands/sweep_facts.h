// A sweep as `status`, `trials` and `best` read it: its settings, and of its trials
// only what is shown.
#pragma once

#include <filesystem>
#include <vector>

#include "search/config.h"
#include "search/status.h"
#include "trial/sweep_query.h"

namespace hyperopt {

struct SweepFacts {
  std::filesystem::path dir;
  SweepQuery query;
  SweepRow sweep;
  SearchConfig config;  // as resolved when the sweep was last started

  // Throws ConfigError where `dir` holds no sweep, EnvironmentError where it can not be
  // read.
  explicit SweepFacts(std::filesystem::path dir);
};

// The best trials, at most `count`; failed trials and values that are not finite rank
// nowhere.
std::vector<TrialRow> BestTrials(const SweepFacts& facts, int64_t count);
RecordSummary Summarize(const SweepFacts& facts);

}  // namespace hyperopt

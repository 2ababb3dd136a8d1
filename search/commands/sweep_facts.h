// A sweep as `status`, `trials` and `best` read it: its settings, and of its trials
// only what is shown.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "search/config.h"
#include "search/repeats.h"
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

  // As `query` has them, but who stands by (standby.h) is pending.
  std::vector<TrialRow> Trials(TrialsWanted wanted) const;
  std::map<TrialState, int64_t> Counts() const;

 private:
  std::set<TrialId> standing_by_;
};

// Where configurations are repeated: how they stand. Reads all trials.
std::optional<Race> RaceOf(const SweepFacts& facts);

// The best trials, at most `count`, where configurations are repeated the best one of
// each; failed trials and values that are not finite rank nowhere.
std::vector<TrialRow> BestTrials(const SweepFacts& facts, int64_t count);
RecordSummary Summarize(const SweepFacts& facts);

}  // namespace hyperopt

// Where a sweep stands, in one value: what the live status block, `hyperopt status` and
// the answer of a controller show. Built from a living controller or from a record.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "search/config.h"
#include "search/controller.h"
#include "trial/clock.h"
#include "trial/json.h"
#include "trial/record.h"

namespace hyperopt {

// The best trial so far, by the file's `value:` (best or last).
struct BestSoFar {
  TrialId trial;
  Objective value;
  int64_t step = 0;
  // Where configurations are repeated the value is the best one's mean over so many,
  // and the trial the best of them; else 0.
  int64_t repeats = 0;
  std::optional<double> error;  // its standard error
  bool operator==(const BestSoFar&) const = default;
};

struct SweepStatus {
  std::string name;
  std::string state;  // "running", "paused", "stopping", "killed" (no controller lives,
                      // and none said goodbye), or a SweepState's name
  std::string metric;
  Goal goal = Goal::kMinimize;
  SweepCounts counts;
  std::optional<int64_t> max_concurrent;
  std::optional<BestSoFar> best;
  std::string waits;            // why the next start does not happen; "" where it does
  double alive_s = 0;           // over all sessions
  std::optional<double> eta_s;  // to the end of the sweep; nullopt: not known yet
  double devices_busy = 0;      // shares of devices in use
  int64_t devices = 0;          // of the executors that are present
  int64_t executors = 0;        // present
};

// What ranks: `value: best` the best report, `value: last` the last one.
const Objective& RankedValue(const TrialRow& row, ValueRule rule);
BestSoFar BestOf(const TrialRow& row, ValueRule rule);
// The best of a record; failed trials and values that are not finite rank nowhere.
const TrialRow* FindBest(const std::vector<TrialRow>& trials,
                         Goal goal,
                         ValueRule rule);

// The best configuration's best trial where they are repeated, else the same.
const TrialRow* FindBest(const std::vector<TrialRow>& trials,
                         const SearchConfig& config);
std::optional<BestSoFar> FindBestSoFar(const std::vector<TrialRow>& trials,
                                       const SearchConfig& config);
// REQUIRES: there is an incumbent.
BestSoFar BestOf(const Controller& controller);

// What a record says of its sweep; by SQLite (commands/sweep_facts.h) without loading
// its trials.
struct RecordSummary {
  SweepRow sweep;
  std::map<TrialState, int64_t> counts;
  int64_t proposed = 0;  // trials of the current era that were proposed
  std::optional<BestSoFar> best;
};

// The word for a recorded state: "paused" where it runs on and starts nothing.
std::string StateWord(const SweepRow& sweep);

// `session_s`, `finished_in_session`: what the ETA is reckoned from.
SweepStatus StatusOf(const Controller& controller,
                     double session_s,
                     int64_t finished_in_session,
                     Now now);
// Of a record without a controller. `planned` as the search file says.
SweepStatus StatusOf(const RecordSummary& record, const SearchConfig& config);

// "12 completed, 3 stopped, 1 failed"; states without a trial are left out.
std::string CountsText(const SweepCounts& counts);
// "0.4127", "0.4127 +- 0.02 of 3"
std::string ValueText(const BestSoFar& best);
// "loss 0.4127 (trial 17, step 9)"
std::string BestText(const SweepStatus& status);

// Up to five lines, each at most `width` columns of a terminal.
std::vector<std::string> StatusBlock(const SweepStatus& status, size_t width);
// The same on one line, for a pipe.
std::string StatusLine(const SweepStatus& status);

OrderedJson StatusToJson(const SweepStatus& status);
// Back, from a controller's answer; what is absent or of another type keeps its
// default.
SweepStatus StatusFromJson(const OrderedJson& json);
OrderedJson CountsToJson(const SweepCounts& counts);

}  // namespace hyperopt

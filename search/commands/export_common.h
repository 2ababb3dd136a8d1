// What all export formats read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/commands/recorded_sweep.h"
#include "trial/record.h"

namespace hyperopt {

// A trial with what lies beside its row. Its last run is that of the newest attempt.
struct TrialRecord {
  const TrialRow* row = nullptr;
  Params params;
  std::optional<RunRow> run;
  std::string executor;  // name, "" before the first launch
};

// Calls `visit` for each trial, by number; parameters are read many at once.
template <typename Visit>
void ForEachTrial(const RecordedSweep& sweep, Visit visit) {
  constexpr size_t kAtOnce = 1000;
  std::map<ExecutorId, std::string> names;
  for (const ExecutorRow& row : sweep.record.executors) names[row.id] = row.name;
  const std::vector<TrialRow>& trials = sweep.record.trials;
  for (size_t begin = 0; begin < trials.size(); begin += kAtOnce) {
    const size_t end = std::min(trials.size(), begin + kAtOnce);
    std::vector<TrialId> ids;
    for (size_t i = begin; i < end; ++i) ids.push_back(trials[i].id);
    std::vector<Params> params = sweep.store->LoadParams(ids);
    for (size_t i = begin; i < end; ++i) {
      TrialRecord trial;
      trial.row = &trials[i];
      trial.params = std::move(params[i - begin]);
      const std::vector<RunRow> runs = sweep.store->LoadRuns(trials[i].id);
      if (!runs.empty()) {
        trial.run = runs.back();
        trial.executor = names[runs.back().executor];
      }
      visit(trial);
    }
  }
}

}  // namespace hyperopt

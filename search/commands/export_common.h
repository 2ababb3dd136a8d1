// What all export formats read.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/commands/recorded_sweep.h"
#include "search/commands/trial_log.h"
#include "trial/record.h"

namespace hyperopt {

// A trial with what lies beside its row. Its last run is that of the newest attempt.
struct TrialRecord {
  const TrialRow* row = nullptr;
  Params params;
  std::optional<RunRow> run;
  std::string executor;  // name, "" before the first launch
};

// With its reports.
LoggedTrial LoggedTrialOf(const RecordedSweep& sweep, TrialRecord trial);

// Calls `visit` for each of `rows`; parameters are read at once.
template <typename Visit>
void ForTrials(const RecordedSweep& sweep,
               std::span<const TrialRow* const> rows,
               Visit visit) {
  std::map<ExecutorId, std::string> names;
  for (const ExecutorRow& row : sweep.record.executors) names[row.id] = row.name;
  std::vector<TrialId> ids;
  for (const TrialRow* row : rows) ids.push_back(row->id);
  std::vector<Params> params = sweep.store->LoadParams(ids);
  for (size_t i = 0; i < rows.size(); ++i) {
    TrialRecord trial;
    trial.row = rows[i];
    trial.params = std::move(params[i]);
    const std::vector<RunRow> runs = sweep.store->LoadRuns(rows[i]->id);
    if (!runs.empty()) {
      trial.run = runs.back();
      trial.executor = names[runs.back().executor];
    }
    visit(std::move(trial));
  }
}

// All trials, by number.
template <typename Visit>
void ForEachTrial(const RecordedSweep& sweep, Visit visit) {
  constexpr size_t kAtOnce = 1000;
  const std::vector<TrialRow>& trials = sweep.record.trials;
  for (size_t begin = 0; begin < trials.size(); begin += kAtOnce) {
    std::vector<const TrialRow*> rows;
    for (size_t i = begin; i < std::min(trials.size(), begin + kAtOnce); ++i) {
      rows.push_back(&trials[i]);
    }
    ForTrials(sweep, rows, visit);
  }
}

}  // namespace hyperopt

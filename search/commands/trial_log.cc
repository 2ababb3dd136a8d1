#include "search/commands/trial_log.h"

#include <utility>

#include "search/commands/export_common.h"

namespace hyperopt {

LoggedSweep LoggedSweepOf(const RecordedSweep& sweep) {
  const SweepRow& row = sweep.record.sweep;
  const auto parameters = sweep.config.space.parameters();
  return {row.id,
          row.name,
          row.metric,
          row.created,
          sweep.dir,
          {parameters.begin(), parameters.end()}};
}

LoggedTrial LoggedTrialOf(const RecordedSweep& sweep, TrialRecord trial) {
  return {*trial.row,
          std::move(trial.params),
          std::move(trial.executor),
          LoggedValuesOf(sweep.store->LoadReports(trial.row->id))};
}

}  // namespace hyperopt

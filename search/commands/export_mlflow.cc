#include <fmt/format.h>

#include <algorithm>

#include "search/commands/export.h"
#include "search/commands/export_common.h"
#include "search/commands/mlflow_log.h"
#include "search/loggers.h"

namespace hyperopt {

std::string ExportMlflow(const RecordedSweep& sweep, const std::string& uri) {
  // Where the sweep itself logged to, what is there is completed.
  LoggerEntry target;
  for (const LoggerEntry& entry : sweep.config.loggers) {
    const bool fits = entry.kind == LoggerKind::kMlflow &&
                      (uri.empty() || entry.uri.empty() || entry.uri == uri);
    if (fits) target = entry;
  }
  if (!uri.empty()) target.uri = uri;
  MlflowClient client(MlflowUriOf(target));
  const std::string name = MlflowExperimentOf(target, sweep.record.sweep.name);
  MlflowLog log(LoggedSweepOf(sweep), name, &client);
  ForEachTrial(sweep, [&](TrialRecord trial) {
    log.Put(LoggedTrialOf(sweep, std::move(trial)));
  });
  return fmt::format("{} runs in {}", log.runs(), log.Where());
}

}  // namespace hyperopt

#include "search/commands/export.h"
#include "search/commands/export_common.h"
#include "search/commands/tensorboard_log.h"

namespace hyperopt {

void ExportTensorboard(const RecordedSweep& sweep,
                       const std::filesystem::path& folder) {
  TensorboardLog log(LoggedSweepOf(sweep), folder, TensorboardLog::Ends::kAlways);
  ForEachTrial(sweep, [&](TrialRecord trial) {
    log.Put(LoggedTrialOf(sweep, std::move(trial)));
  });
}

}  // namespace hyperopt

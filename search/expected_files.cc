#include <fmt/format.h>

#include "search/keep.h"
#include "trial/resources.h"

namespace hyperopt {
namespace {

// report.jsonl, params.json, config.json, exit.json, and two logs a rank.
constexpr int64_t kFiles = 4;
// The trial's, the run's, the attempt's, and its checkpoints'.
constexpr int64_t kFolders = 4;
// What a file system takes for the smallest of them.
constexpr int64_t kBlock = 4096;

std::string CheckpointsText(const KeepRules& keep) {
  const int64_t most = keep.best_checkpoints + keep.last_checkpoints;
  return fmt::format("up to {} checkpoint{}", most, most == 1 ? "" : "s");
}

std::string LogsText(KeepLogs logs) {
  switch (logs) {
    case KeepLogs::kAll:
      return "reports and logs";
    case KeepLogs::kFailed:
      return "reports, and logs of failed ones,";
    case KeepLogs::kNone:
      return "reports";
  }
  return "";
}

}  // namespace

std::string ExpectedFiles(const SearchConfig& config, int64_t trials) {
  const KeepRules& keep = config.keep;
  const int64_t ranks = config.executor.resources.ranks;
  const bool all_logs = keep.logs == KeepLogs::kAll;
  const int64_t files = kFiles + 2 * ranks;
  const std::string logs_limit = SizeToText(2 * ranks * config.executor.log_limit);
  if (keep.folders != KeepFolders::kAll) {
    return fmt::format(
        "{} files a trial while it runs, up to {} of logs and {}; then folders of {} "
        "stay, and of the others {} go into sweep.db",
        files,
        logs_limit,
        CheckpointsText(keep),
        keep.folders == KeepFolders::kBest ? "the best one"
                                           : "failed ones and the best",
        LogsText(keep.logs));
  }
  const int64_t bytes = trials * (files + kFolders) * kBlock;
  return fmt::format(
      "{} in {} folders, about {}; beside that {}{} a trial{}",
      trials * (all_logs ? files : files - 2 * ranks),
      trials * kFolders,
      SizeToText(bytes),
      all_logs ? fmt::format("logs of up to {} and ", logs_limit) : "",
      CheckpointsText(keep),
      trials >= 1000 ? "; keep: {folders: best} leaves the best one's" : "");
}

}  // namespace hyperopt

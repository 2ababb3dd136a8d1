// `keep`: what stays of a trial's files.
#include <fmt/format.h>

#include "search/internal/config/readers.h"

namespace hyperopt::internal {
namespace {

constexpr int64_t kMostCheckpoints = 1'000'000;

void ReadCheckpoints(Section& keep, Reading& reading) {
  KeepRules& rules = reading.config.keep;
  if (!keep.Has("checkpoints")) {
    keep.Ignore("checkpoints");
    return;
  }
  Section checkpoints(
      keep.Take("checkpoints"), keep.PathOf("checkpoints"), reading.problems);
  if (const auto best = checkpoints.Int("best", 0, kMostCheckpoints)) {
    rules.best_checkpoints = *best;
  }
  // The last one is what a trial goes on from.
  if (const auto last = checkpoints.Int("last", 1, kMostCheckpoints)) {
    rules.last_checkpoints = *last;
  }
  checkpoints.Finish();
}

}  // namespace

void ReadKeep(Section& top, Reading& reading) {
  if (!top.Has("keep")) {
    top.Ignore("keep");
    return;
  }
  Section keep(top.Take("keep"), "keep", reading.problems);
  KeepRules& rules = reading.config.keep;
  ReadCheckpoints(keep, reading);
  if (const auto logs = keep.Choice("logs", {"all", "failed", "none"})) {
    rules.logs = *logs == "all"      ? KeepLogs::kAll
                 : *logs == "failed" ? KeepLogs::kFailed
                                     : KeepLogs::kNone;
  }
  if (const auto folders = keep.Choice("folders", {"all", "failed", "best"})) {
    rules.folders = *folders == "all"      ? KeepFolders::kAll
                    : *folders == "failed" ? KeepFolders::kFailed
                                           : KeepFolders::kBest;
  }
  keep.Finish();
}

}  // namespace hyperopt::internal

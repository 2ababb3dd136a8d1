// One trial in full.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hyperopt {

struct ShowOptions {
  std::optional<std::filesystem::path> dir;
  int64_t trial = 0;
  bool json = false;
};
// Parameters, curve, rungs, attempts, last words and the line that runs it by hand. As
// JSON: {"id", "state", "reason", "detail", "metric", "best", "best_step", "last",
// "last_step", "reports", "params": {...}, "curve": [[step, value], ...], "rungs":
// [...], "attempts": [...], "checkpoint": path or null, "folder": path or null,
// "stderr": [line, ...], "by_hand": line or null}.
int ShowCommand(const ShowOptions& options);

}  // namespace hyperopt

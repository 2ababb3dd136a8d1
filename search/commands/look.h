// Looking at a sweep, running or not: status, trials, explain.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trial/state.h"

namespace hyperopt {

struct StatusOptions {
  std::optional<std::filesystem::path> dir;
  bool json = false;
};
// Asks the living controller; without one, from the record.
int StatusCommand(const StatusOptions& options);

struct TrialsOptions {
  std::optional<std::filesystem::path> dir;
  // "best", "last", "id", "state", "started", "ended", "step", a metric of the search,
  // with repeats also "mean", "error", "n", "of"; or a parameter's name. A leading '-'
  // turns the order round. Best first where it is absent.
  std::optional<std::string> sort;
  std::optional<TrialState> state;
  int64_t limit = 20;  // 0: all
  bool json = false;
  bool plot = false;  // the best so far against trials, in characters, above the table
};
// A table, or an array of objects {"id", "state", "reason", "best", "best_step",
// "last", "params"}.
int TrialsCommand(const TrialsOptions& options);

struct ExplainOptions {
  std::optional<std::filesystem::path> dir;
  int64_t trial = 0;
  bool json = false;
};
// Why a trial is not running, or what it is doing.
int ExplainCommand(const ExplainOptions& options);

}  // namespace hyperopt

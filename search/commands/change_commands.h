// What changes a sweep, from this or another shell: add, stop TRIAL, pause, unpause,
// set. Each answers at once with what it did.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hyperopt {

struct AddOptions {
  std::optional<std::filesystem::path> dir;
  std::vector<std::string> params;           // JSON objects
  std::optional<std::filesystem::path> csv;  // a table of settings
  std::optional<int64_t> trials;             // so many samples more
  bool again = false;                        // also what a trial has already
};
int AddTrialsCommand(const AddOptions& options);

struct StopTrialsOptions {
  std::optional<std::filesystem::path> dir;
  std::vector<int64_t> trials;
};
int StopTrialsCommand(const StopTrialsOptions& options);

struct PauseOptions {
  std::optional<std::filesystem::path> dir;
  bool paused = true;
};
int PauseCommand(const PauseOptions& options);

struct SetOptions {
  std::optional<std::filesystem::path> dir;
  std::vector<std::string> settings;  // "max_concurrent_trials=1"
};
int SetCommand(const SetOptions& options);

}  // namespace hyperopt

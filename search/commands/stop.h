// Stopping a running sweep from another shell.
#pragma once

#include <filesystem>
#include <optional>

namespace hyperopt {

struct StopOptions {
  std::optional<std::filesystem::path> dir;
  bool drain = false;  // what runs ends by itself
};
// Asks the controller to stop and waits until it has ended. 0 also where no controller
// runs: it says so.
int StopCommand(const StopOptions& options);

}  // namespace hyperopt

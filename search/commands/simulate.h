// What a finished sweep would have cost and found under another scheduler.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace hyperopt {

struct SimulateOptions {
  std::optional<std::filesystem::path> dir;
  std::optional<std::string> scheduler;  // YAML or JSON, or a type alone; absent: the
                                         // sweep's own
  std::optional<std::string> sampler;    // refused
  std::optional<int64_t> concurrency;    // absent: max_concurrent_trials, else as many
                                         // as ran at once
  bool json = false;
};
int SimulateCommand(const SimulateOptions& options);

}  // namespace hyperopt

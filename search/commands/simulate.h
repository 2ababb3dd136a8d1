// What a finished sweep would have cost and found under another scheduler, or with its
// trials chosen by another sampler.
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
  std::optional<std::string> sampler;    // YAML or JSON, or a type alone
  int64_t seeds = 5;                     // of a sampler: its runs with one seed each
  std::optional<int64_t> concurrency;    // absent: max_concurrent_trials, else as many
                                         // as ran at once
  bool json = false;
};
int SimulateCommand(const SimulateOptions& options);

}  // namespace hyperopt

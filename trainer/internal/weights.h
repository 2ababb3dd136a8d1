// What a checkpoint of the trainer holds: `model.pt` (a state dict that Python's
// torch.load reads), `optimizer.pt` and `state.json`.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "trainer/reporter.h"

namespace hyperopt {

// Where the loop was.
struct LoopState {
  int64_t step = 0;  // completed epochs
  // Of the validation metric; NaN where none was finite yet.
  double best_value = std::numeric_limits<double>::quiet_NaN();
  int64_t epochs_since_best = 0;
  // To say again what may have been lost between checkpoint and report.
  std::string trial;
  ReportFields report;
};

void SaveState(const std::filesystem::path& folder,
               const torch::nn::Module& model,
               const torch::optim::Optimizer& optimizer,
               const std::string& optimizer_type,
               const LoopState& state);

// Throws EnvironmentError where a file is missing or torn or the model has another
// shape. The optimizer keeps the options it has; its state is taken over where the
// checkpoint is one of the same optimizer.
LoopState LoadState(const std::filesystem::path& folder,
                    torch::nn::Module& model,
                    torch::optim::Optimizer& optimizer,
                    const std::string& optimizer_type);

}  // namespace hyperopt

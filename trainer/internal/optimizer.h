#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "trainer/model_config.h"

namespace hyperopt {

// `learning_rate` is the one in effect, scaling included.
std::unique_ptr<torch::optim::Optimizer> MakeOptimizer(
    const OptimizerConfig& config,
    double learning_rate,
    const std::vector<torch::Tensor>& parameters);

// Clips the gradients by value, then by the norm of all together, as the config says.
void ClipGradients(const TrainerConfig& config,
                   const std::vector<torch::Tensor>& parameters);

}  // namespace hyperopt

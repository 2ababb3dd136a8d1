#include "trainer/internal/optimizer.h"

namespace hyperopt {

std::unique_ptr<torch::optim::Optimizer> MakeOptimizer(
    const OptimizerConfig& config,
    double learning_rate,
    const std::vector<torch::Tensor>& parameters) {
  if (config.type == "sgd") {
    return std::make_unique<torch::optim::SGD>(parameters,
                                               torch::optim::SGDOptions(learning_rate)
                                                   .momentum(config.momentum)
                                                   .weight_decay(config.weight_decay)
                                                   .nesterov(config.nesterov));
  }
  if (config.type == "adamw") {
    return std::make_unique<torch::optim::AdamW>(
        parameters,
        torch::optim::AdamWOptions(learning_rate)
            .betas({config.beta1, config.beta2})
            .eps(config.eps)
            .weight_decay(config.weight_decay)
            .amsgrad(config.amsgrad));
  }
  return std::make_unique<torch::optim::Adam>(parameters,
                                              torch::optim::AdamOptions(learning_rate)
                                                  .betas({config.beta1, config.beta2})
                                                  .eps(config.eps)
                                                  .weight_decay(config.weight_decay)
                                                  .amsgrad(config.amsgrad));
}

void ClipGradients(const TrainerConfig& config,
                   const std::vector<torch::Tensor>& parameters) {
  if (config.clip_value > 0) {
    torch::nn::utils::clip_grad_value_(parameters, config.clip_value);
  }
  if (config.clip_global_norm > 0) {
    torch::nn::utils::clip_grad_norm_(parameters, config.clip_global_norm);
  }
}

}  // namespace hyperopt

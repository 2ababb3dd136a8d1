// Predictions of a model over many rows, from all ranks.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "trainer/internal/model.h"
#include "trainer/internal/strategy.h"
#include "trainer/metrics.h"

namespace hyperopt {

// Collects what the batches of one pass said.
class PredictionCollector {
 public:
  // For each output feature the scores [n, width] and losses [n] of a batch; targets
  // [n, outputs].
  void Add(const std::vector<torch::Tensor>& scores,
           const std::vector<torch::Tensor>& losses,
           const torch::Tensor& targets);

  // All ranks' predictions, for each output feature; the same on every rank.
  // Collective.
  std::vector<Predictions> Gather(Strategy& strategy) const;

 private:
  // [feature][batch]
  std::vector<std::vector<torch::Tensor>> scores_;
  std::vector<std::vector<torch::Tensor>> losses_;
  std::vector<torch::Tensor> targets_;
};

}  // namespace hyperopt

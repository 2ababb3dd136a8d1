// Encoders, combiner and decoders of a config as one module.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "trainer/internal/modules.h"

namespace hyperopt {

class Model : public torch::nn::Module {
 public:
  // Draws the initial values from torch's default generator.
  Model(const ModelConfig& config, const Dataset& data);

  // [rows, inputs] -> for each output feature [rows, its width].
  std::vector<torch::Tensor> Forward(const torch::Tensor& inputs);
  // Targets [rows, outputs] -> for each output feature the loss of each row.
  std::vector<torch::Tensor> Losses(const std::vector<torch::Tensor>& scores,
                                    const torch::Tensor& targets) const;
  // The weighted sum over the output features, a row [rows].
  torch::Tensor CombinedLoss(const std::vector<torch::Tensor>& losses) const;
  // Whether a layer needs two rows or more to train on.
  bool has_batch_norm() const { return has_batch_norm_; }

 private:
  // Columns [begin, begin + width) of the inputs go through one encoder.
  struct Slot {
    int64_t begin;
    int64_t width;
    std::shared_ptr<Encoder> encoder;
  };

  std::vector<Slot> slots_;
  std::shared_ptr<Combiner> combiner_;
  std::vector<std::shared_ptr<Decoder>> decoders_;
  std::vector<double> weights_;
  bool has_batch_norm_ = false;
};

}  // namespace hyperopt

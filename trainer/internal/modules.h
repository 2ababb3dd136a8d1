// The parts of a model. Each is chosen by the `type` of its section of the config; a
// new one is a class in its .cc and a line in its Make function.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "trainer/dataset.h"
#include "trainer/model_config.h"

namespace hyperopt {

// Turns the cells of one feature into a vector.
class Encoder : public torch::nn::Module {
 public:
  // [rows, 1] float -> [rows, output_size()].
  virtual torch::Tensor Forward(const torch::Tensor& cells) = 0;
  virtual int64_t output_size() const = 0;
  // Whether neighbouring features of this encoder may go through it in one piece,
  // [rows, k] -> [rows, k]: a table of hundreds of plain numbers is then one slice.
  virtual bool passes_through() const { return false; }
};

// Joins the features' vectors into one.
class Combiner : public torch::nn::Module {
 public:
  // Tensors of [rows, size_i] -> [rows, output_size()].
  virtual torch::Tensor Forward(const std::vector<torch::Tensor>& encoded) = 0;
  virtual int64_t output_size() const = 0;
};

// Turns the combined vector into scores of one output feature, and those into losses.
class Decoder : public torch::nn::Module {
 public:
  // [rows, hidden] -> [rows, width()], as Predictions::scores.
  virtual torch::Tensor Forward(const torch::Tensor& hidden) = 0;
  // Scores and targets [rows] -> the loss of each row [rows], not weighted.
  virtual torch::Tensor Losses(const torch::Tensor& scores,
                               const torch::Tensor& targets) const = 0;
  virtual int64_t width() const = 0;
};

std::shared_ptr<Encoder> MakeEncoder(const InputFeature& feature,
                                     const ColumnInfo& info);
std::shared_ptr<Combiner> MakeCombiner(const CombinerConfig& config,
                                       int64_t input_size);
std::shared_ptr<Decoder> MakeDecoder(const OutputFeature& feature,
                                     const ColumnInfo& info,
                                     int64_t input_size);

// A linear layer with Ludwig's initial values: Xavier uniform weights, bias 0.
torch::nn::Linear MakeLinear(int64_t in, int64_t out, bool bias);

// Fully connected layers in a row; without layers it hands its input on.
class FcStack : public torch::nn::Module {
 public:
  FcStack(const std::vector<FcLayer>& layers, int64_t input_size);

  torch::Tensor Forward(torch::Tensor x);
  int64_t output_size() const { return output_size_; }

 private:
  torch::nn::Sequential steps_;
  int64_t output_size_;
};

}  // namespace hyperopt

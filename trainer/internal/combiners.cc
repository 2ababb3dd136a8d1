#include "trainer/internal/modules.h"

namespace hyperopt {
namespace {

class ConcatCombiner final : public Combiner {
 public:
  ConcatCombiner(const std::vector<FcLayer>& layers, int64_t input_size)
      : stack_(
            register_module("stack", std::make_shared<FcStack>(layers, input_size))) {}

  torch::Tensor Forward(const std::vector<torch::Tensor>& encoded) override {
    return stack_->Forward(encoded.size() == 1 ? encoded[0] : torch::cat(encoded, 1));
  }
  int64_t output_size() const override { return stack_->output_size(); }

 private:
  std::shared_ptr<FcStack> stack_;
};

void PushActivation(torch::nn::Sequential& steps, const std::string& name) {
  if (name == "relu") steps->push_back(torch::nn::ReLU());
  if (name == "leakyRelu") steps->push_back(torch::nn::LeakyReLU());
  if (name == "elu") steps->push_back(torch::nn::ELU());
  if (name == "gelu") steps->push_back(torch::nn::GELU());
  if (name == "sigmoid") steps->push_back(torch::nn::Sigmoid());
  if (name == "tanh") steps->push_back(torch::nn::Tanh());
}

void PushLayer(torch::nn::Sequential& steps, const FcLayer& layer, int64_t input_size) {
  const int64_t size = layer.output_size;
  steps->push_back(MakeLinear(input_size, size, layer.use_bias));
  if (layer.norm == "batch") steps->push_back(torch::nn::BatchNorm1d(size));
  if (layer.norm == "layer") {
    steps->push_back(torch::nn::LayerNorm(torch::nn::LayerNormOptions({size})));
  }
  PushActivation(steps, layer.activation);
  if (layer.dropout > 0) steps->push_back(torch::nn::Dropout(layer.dropout));
}

}  // namespace

torch::nn::Linear MakeLinear(int64_t in, int64_t out, bool bias) {
  torch::nn::Linear linear(torch::nn::LinearOptions(in, out).bias(bias));
  torch::nn::init::xavier_uniform_(linear->weight);
  if (bias) torch::nn::init::zeros_(linear->bias);
  return linear;
}

FcStack::FcStack(const std::vector<FcLayer>& layers, int64_t input_size)
    : output_size_(input_size) {
  for (const FcLayer& layer : layers) {
    PushLayer(steps_, layer, output_size_);
    output_size_ = layer.output_size;
  }
  register_module("steps", steps_);
}

torch::Tensor FcStack::Forward(torch::Tensor x) {
  return steps_->is_empty() ? x : steps_->forward(x);
}

std::shared_ptr<Combiner> MakeCombiner(const CombinerConfig& config,
                                       int64_t input_size) {
  return std::make_shared<ConcatCombiner>(config.stack.Layers(), input_size);
}

}  // namespace hyperopt

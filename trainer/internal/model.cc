#include "trainer/internal/model.h"

#include <fmt/format.h>

namespace hyperopt {

Model::Model(const ModelConfig& config, const Dataset& data) {
  int64_t encoded_size = 0;
  for (size_t i = 0; i < config.inputs.size(); ++i) {
    auto encoder = MakeEncoder(config.inputs[i], data.input_info[i]);
    encoded_size += encoder->output_size();
    const bool join = encoder->passes_through() && !slots_.empty() &&
                      slots_.back().encoder->passes_through();
    if (join) {
      ++slots_.back().width;
      continue;
    }
    register_module(fmt::format("encoder_{}", i), encoder);
    slots_.push_back({static_cast<int64_t>(i), 1, std::move(encoder)});
  }
  combiner_ = register_module("combiner", MakeCombiner(config.combiner, encoded_size));
  for (size_t i = 0; i < config.outputs.size(); ++i) {
    decoders_.push_back(register_module(
        fmt::format("decoder_{}", i),
        MakeDecoder(config.outputs[i], data.target_info[i], combiner_->output_size())));
    weights_.push_back(config.outputs[i].loss.weight);
  }
  for (const auto& module : modules(/*include_self=*/false)) {
    if (module->as<torch::nn::BatchNorm1d>() != nullptr) has_batch_norm_ = true;
  }
}

std::vector<torch::Tensor> Model::Forward(const torch::Tensor& inputs) {
  std::vector<torch::Tensor> encoded;
  encoded.reserve(slots_.size());
  for (const Slot& slot : slots_) {
    encoded.push_back(slot.encoder->Forward(inputs.narrow(1, slot.begin, slot.width)));
  }
  const torch::Tensor hidden = combiner_->Forward(encoded);
  std::vector<torch::Tensor> scores;
  for (const auto& decoder : decoders_) scores.push_back(decoder->Forward(hidden));
  return scores;
}

std::vector<torch::Tensor> Model::Losses(const std::vector<torch::Tensor>& scores,
                                         const torch::Tensor& targets) const {
  std::vector<torch::Tensor> losses;
  for (size_t i = 0; i < decoders_.size(); ++i) {
    const auto column = targets.select(1, static_cast<int64_t>(i));
    losses.push_back(decoders_[i]->Losses(scores[i], column));
  }
  return losses;
}

torch::Tensor Model::CombinedLoss(const std::vector<torch::Tensor>& losses) const {
  torch::Tensor sum = losses[0] * weights_[0];
  for (size_t i = 1; i < losses.size(); ++i) sum = sum + losses[i] * weights_[i];
  return sum;
}

}  // namespace hyperopt

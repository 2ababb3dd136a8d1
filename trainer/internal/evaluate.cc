#include "trainer/internal/evaluate.h"

namespace hyperopt {
namespace {

std::vector<float> ToVector(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.contiguous().view(-1);
  const float* data = flat.data_ptr<float>();
  return {data, data + flat.numel()};
}

torch::Tensor Join(const std::vector<torch::Tensor>& parts) {
  return torch::cat(parts).to(torch::kCPU, torch::kFloat).contiguous();
}

}  // namespace

void PredictionCollector::Add(const std::vector<torch::Tensor>& scores,
                              const std::vector<torch::Tensor>& losses,
                              const torch::Tensor& targets) {
  scores_.resize(scores.size());
  losses_.resize(losses.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    scores_[i].push_back(scores[i].detach());
    losses_[i].push_back(losses[i].detach());
  }
  targets_.push_back(targets);
}

std::vector<Predictions> PredictionCollector::Gather(Strategy& strategy) const {
  std::vector<Predictions> all;
  if (targets_.empty()) return all;
  const torch::Tensor targets = strategy.Gather(Join(targets_));
  for (size_t i = 0; i < scores_.size(); ++i) {
    Predictions predictions;
    const torch::Tensor scores = strategy.Gather(Join(scores_[i]));
    predictions.width = static_cast<size_t>(scores.size(1));
    predictions.scores = ToVector(scores);
    predictions.losses = ToVector(strategy.Gather(Join(losses_[i])));
    predictions.targets = ToVector(targets.select(1, static_cast<int64_t>(i)));
    all.push_back(std::move(predictions));
  }
  return all;
}

}  // namespace hyperopt

#include "trainer/internal/modules.h"

namespace hyperopt {
namespace {

namespace nnf = torch::nn::functional;

// Layers, then a linear one to the scores: what all decoders so far have in common.
class LinearDecoder : public Decoder {
 public:
  LinearDecoder(const std::vector<FcLayer>& layers, int64_t input_size, int64_t width)
      : width_(width),
        stack_(register_module("stack", std::make_shared<FcStack>(layers, input_size))),
        linear_(register_module("linear",
                                MakeLinear(stack_->output_size(), width, true))) {}

  torch::Tensor Forward(const torch::Tensor& hidden) override {
    return linear_->forward(stack_->Forward(hidden));
  }
  int64_t width() const override { return width_; }

 private:
  int64_t width_;
  std::shared_ptr<FcStack> stack_;
  torch::nn::Linear linear_;
};

class NumberDecoder final : public LinearDecoder {
 public:
  NumberDecoder(const OutputFeature& feature, int64_t input_size)
      : LinearDecoder(feature.decoder.stack.Layers(), input_size, 1),
        absolute_(feature.loss.type == "mean_absolute_error") {}

  torch::Tensor Losses(const torch::Tensor& scores,
                       const torch::Tensor& targets) const override {
    const torch::Tensor error = scores.select(1, 0) - targets;
    return absolute_ ? error.abs() : error.square();
  }

 private:
  bool absolute_;
};

class CategoryDecoder final : public LinearDecoder {
 public:
  CategoryDecoder(const OutputFeature& feature, int64_t input_size, int64_t classes)
      : LinearDecoder(feature.decoder.stack.Layers(), input_size, classes) {}

  torch::Tensor Losses(const torch::Tensor& scores,
                       const torch::Tensor& targets) const override {
    const auto options = nnf::CrossEntropyFuncOptions().reduction(torch::kNone);
    return nnf::cross_entropy(scores, targets.to(torch::kLong), options);
  }
};

class BinaryDecoder final : public LinearDecoder {
 public:
  BinaryDecoder(const OutputFeature& feature, int64_t input_size)
      : LinearDecoder(feature.decoder.stack.Layers(), input_size, 1) {}

  torch::Tensor Losses(const torch::Tensor& scores,
                       const torch::Tensor& targets) const override {
    const auto options =
        nnf::BinaryCrossEntropyWithLogitsFuncOptions().reduction(torch::kNone);
    return nnf::binary_cross_entropy_with_logits(scores.select(1, 0), targets, options);
  }
};

}  // namespace

std::shared_ptr<Decoder> MakeDecoder(const OutputFeature& feature,
                                     const ColumnInfo& info,
                                     int64_t input_size) {
  switch (feature.type) {
    case FeatureType::kNumber:
      return std::make_shared<NumberDecoder>(feature, input_size);
    case FeatureType::kCategory:
      return std::make_shared<CategoryDecoder>(
          feature, input_size, static_cast<int64_t>(info.vocabulary.size()));
    case FeatureType::kBinary:
      return std::make_shared<BinaryDecoder>(feature, input_size);
  }
  return nullptr;
}

}  // namespace hyperopt

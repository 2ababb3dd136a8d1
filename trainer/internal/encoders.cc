#include "trainer/internal/modules.h"

namespace hyperopt {
namespace {

class PassthroughEncoder final : public Encoder {
 public:
  torch::Tensor Forward(const torch::Tensor& cells) override { return cells; }
  int64_t output_size() const override { return 1; }
  bool passes_through() const override { return true; }
};

class DenseEncoder final : public Encoder {
 public:
  explicit DenseEncoder(const std::vector<FcLayer>& layers)
      : stack_(register_module("stack", std::make_shared<FcStack>(layers, 1))) {}

  torch::Tensor Forward(const torch::Tensor& cells) override {
    return stack_->Forward(cells);
  }
  int64_t output_size() const override { return stack_->output_size(); }

 private:
  std::shared_ptr<FcStack> stack_;
};

class EmbeddingEncoder final : public Encoder {
 public:
  EmbeddingEncoder(int64_t classes, int64_t size)
      : size_(size),
        table_(register_module("embedding", torch::nn::Embedding(classes, size))) {
    torch::NoGradGuard no_grad;
    table_->weight.uniform_(-1, 1);
  }

  torch::Tensor Forward(const torch::Tensor& cells) override {
    return table_->forward(cells.select(1, 0).to(torch::kLong));
  }
  int64_t output_size() const override { return size_; }

 private:
  int64_t size_;
  torch::nn::Embedding table_;
};

class OnehotEncoder final : public Encoder {
 public:
  explicit OnehotEncoder(int64_t classes) : classes_(classes) {}

  torch::Tensor Forward(const torch::Tensor& cells) override {
    return torch::one_hot(cells.select(1, 0).to(torch::kLong), classes_)
        .to(cells.scalar_type());
  }
  int64_t output_size() const override { return classes_; }

 private:
  int64_t classes_;
};

}  // namespace

std::shared_ptr<Encoder> MakeEncoder(const InputFeature& feature,
                                     const ColumnInfo& info) {
  const auto classes = static_cast<int64_t>(info.vocabulary.size());
  const EncoderConfig& config = feature.encoder;
  if (feature.type == FeatureType::kCategory) {
    if (config.type == "onehot") return std::make_shared<OnehotEncoder>(classes);
    // Ludwig's bound: a class never needs more dimensions than there are classes.
    return std::make_shared<EmbeddingEncoder>(classes,
                                              std::min(classes, config.embedding_size));
  }
  if (config.type == "dense") {
    return std::make_shared<DenseEncoder>(config.stack.Layers());
  }
  return std::make_shared<PassthroughEncoder>();
}

}  // namespace hyperopt

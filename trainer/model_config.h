// A Ludwig model config as typed values, defaults filled in. Plain data, without
// LibTorch. Ludwig's names and meanings; where ours differ, the README says so.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trainer/schema.h"

namespace hyperopt {

enum class FeatureType { kNumber, kCategory, kBinary };
std::string_view FeatureTypeName(FeatureType type);

// One fully connected layer: linear, norm, activation, dropout, in this order.
struct FcLayer {
  int64_t output_size = 256;
  std::string activation = "relu";  // relu leakyRelu elu gelu sigmoid tanh linear
  std::string norm;                 // "" (none), "batch" or "layer"
  double dropout = 0;               // [0, 1)
  bool use_bias = true;
};

// A stack of such layers: `num_layers` times `each`, or `fc_layers` where it is not
// empty.
struct FcStackConfig {
  int64_t num_layers = 0;
  FcLayer each;
  std::vector<FcLayer> fc_layers;

  std::vector<FcLayer> Layers() const {
    return fc_layers.empty() ? std::vector<FcLayer>(num_layers, each) : fc_layers;
  }
};

enum class MissingValues { kFillConst, kFillMean, kFillMode, kDropRow };

struct PreprocessingConfig {
  MissingValues missing = MissingValues::kFillConst;
  std::string fill_value;           // "" = the type's own: 0, <UNK>, false
  std::string normalization;        // number: "" (none), zscore or minmax
  int64_t most_common = 10000;      // category: classes kept, the rest is <UNK>
  bool lowercase = false;           // category
  std::string fallback_true_label;  // binary: the label that means true
};

struct EncoderConfig {
  std::string type;
  int64_t embedding_size = 50;  // category, dense
  FcStackConfig stack;          // dense encoders of number and binary
};

struct InputFeature {
  std::string name;
  std::string column;
  FeatureType type = FeatureType::kNumber;
  PreprocessingConfig preprocessing;
  EncoderConfig encoder;
};

struct DecoderConfig {
  std::string type;
  FcStackConfig stack;  // between the combiner and the last linear layer
};

struct LossConfig {
  std::string type;
  double weight = 1;  // of this feature in the combined loss
};

struct OutputFeature {
  std::string name;
  std::string column;
  FeatureType type = FeatureType::kNumber;
  PreprocessingConfig preprocessing;
  DecoderConfig decoder;
  LossConfig loss;
  int64_t top_k = 3;  // category: k of hits_at_k
};

struct CombinerConfig {
  std::string type = "concat";
  FcStackConfig stack;
};

struct OptimizerConfig {
  std::string type = "adam";  // sgd adam adamw
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool nesterov = false;
  bool amsgrad = false;
};

struct TrainerConfig {
  int64_t epochs = 100;
  std::optional<int64_t> batch_size = 128;  // a rank; nullopt = auto
  std::optional<int64_t> eval_batch_size;   // a rank; nullopt = batch_size
  double learning_rate = 0.001;
  std::string learning_rate_scaling = "constant";  // constant sqrt linear
  OptimizerConfig optimizer;
  int64_t early_stop = 5;  // epochs without improvement; 0 and -1 = never
  std::string validation_field = "combined";
  std::string validation_metric = "loss";
  double clip_global_norm = 0.5;  // 0 = off
  double clip_value = 0;          // 0 = off
  bool should_shuffle = true;
};

struct SplitConfig {
  std::string type = "random";  // random stratify fixed
  std::vector<double> probabilities = {0.7, 0.1, 0.2};
  std::string column = "split";  // of fixed and stratify
  uint64_t random_seed = 42;
};

struct ModelConfig {
  std::vector<InputFeature> inputs;
  std::vector<OutputFeature> outputs;
  CombinerConfig combiner;
  TrainerConfig trainer;
  SplitConfig split;
  std::string dataset;  // as written; "" where absent
};

// Reads the config, appending what is wrong to `errors`; the result is only of use
// where nothing was appended.
ModelConfig ParseModelConfig(const nlohmann::ordered_json& json,
                             std::vector<SchemaError>& errors);

// The config with every default written out, as JSON that ParseModelConfig reads to the
// same value.
nlohmann::ordered_json ResolvedConfig(const ModelConfig& config);

}  // namespace hyperopt

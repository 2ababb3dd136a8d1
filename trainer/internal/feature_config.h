// Reads features, their defaults and stacks of layers; a part of ParseModelConfig.
#pragma once

#include <map>
#include <string>

#include "trainer/internal/config_reader.h"
#include "trainer/model_config.h"

namespace hyperopt {

// `defaults.<type>`: what a feature of this type has where it says nothing itself.
struct TypeDefaults {
  PreprocessingConfig input_preprocessing;
  PreprocessingConfig output_preprocessing;
  EncoderConfig encoder;
  DecoderConfig decoder;
  LossConfig loss;
};

// Names of the keys of a stack; they differ between combiner, encoder and decoder.
struct FcKeys {
  const char* num_layers;
  const char* output_size;
  const char* activation;
  const char* norm;
  const char* dropout;
  const char* use_bias;
};
inline constexpr FcKeys kCombinerFcKeys = {
    "num_fc_layers", "output_size", "activation", "norm", "dropout", "use_bias"};

// As `missing_value_strategy` says it.
const char* MissingName(MissingValues missing);

inline constexpr int64_t kMaxCount = int64_t{1} << 53;
inline constexpr int64_t kMaxWidth = int64_t{1} << 20;

std::map<FeatureType, TypeDefaults> ParseDefaults(ConfigReader& reader);
FcStackConfig ParseFcStack(ConfigReader& reader,
                           const FcKeys& keys,
                           const FcStackConfig& fallback);

std::vector<InputFeature> ParseInputs(
    const ConfigReader::Json* list,
    const std::map<FeatureType, TypeDefaults>& defaults,
    ReadLog& log);
std::vector<OutputFeature> ParseOutputs(
    const ConfigReader::Json* list,
    const std::map<FeatureType, TypeDefaults>& defaults,
    ReadLog& log);

}  // namespace hyperopt

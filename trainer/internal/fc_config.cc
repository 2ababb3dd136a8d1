// Stacks of fully connected layers, wherever a config has them.
#include <fmt/format.h>

#include <array>

#include "trainer/internal/feature_config.h"

namespace hyperopt {
namespace {

using Json = ConfigReader::Json;

constexpr std::array kActivations = {
    "relu", "leakyRelu", "elu", "gelu", "sigmoid", "tanh", "linear"};

void ParseFcLayer(ConfigReader& reader, const FcKeys& keys, FcLayer& layer) {
  layer.output_size = reader.Int(keys.output_size, layer.output_size, 1, kMaxWidth);
  layer.activation = reader.Choice(keys.activation, layer.activation, kActivations);
  const std::string norm = reader.Choice(keys.norm,
                                         layer.norm.empty() ? "none" : layer.norm,
                                         std::array{"none", "batch", "layer"});
  layer.norm = norm == "none" ? "" : norm;
  layer.dropout = reader.Number(keys.dropout, layer.dropout, 0, 1);
  layer.use_bias = reader.Bool(keys.use_bias, layer.use_bias);
}

}  // namespace

FcStackConfig ParseFcStack(ConfigReader& reader,
                           const FcKeys& keys,
                           const FcStackConfig& fallback) {
  FcStackConfig stack = fallback;
  stack.num_layers = reader.Int(keys.num_layers, stack.num_layers, 0, 1000);
  ParseFcLayer(reader, keys, stack.each);
  const Json* list = reader.Take("fc_layers");
  if (list == nullptr) return stack;
  stack.fc_layers.clear();
  if (!list->is_array()) {
    reader.Fail("fc_layers", "must be a list of layers");
    return stack;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string path = reader.PathOf(fmt::format("fc_layers.{}", i));
    ConfigReader item(&(*list)[i], path, reader.log());
    FcLayer layer = stack.each;
    ParseFcLayer(item, kCombinerFcKeys, layer);
    item.Finish();
    stack.fc_layers.push_back(layer);
  }
  return stack;
}

}  // namespace hyperopt

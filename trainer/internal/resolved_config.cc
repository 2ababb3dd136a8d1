#include <nlohmann/json.hpp>

#include "trainer/internal/feature_config.h"
#include "trainer/model_config.h"

namespace hyperopt {
namespace {

using Json = nlohmann::ordered_json;

Json NameOrNone(const std::string& name) { return name.empty() ? "none" : name; }

Json OrAuto(const std::optional<int64_t>& value) {
  return value ? Json(*value) : Json("auto");
}

Json LayerList(const FcStackConfig& stack) {
  Json list = Json::array();
  for (const FcLayer& layer : stack.Layers()) {
    list.push_back({{"output_size", layer.output_size},
                    {"activation", layer.activation},
                    {"norm", NameOrNone(layer.norm)},
                    {"dropout", layer.dropout},
                    {"use_bias", layer.use_bias}});
  }
  return list;
}

// Zero layers are an empty list, which reads as `num_layers`: that is given as well.
void PutStack(Json& json, const char* num_layers, const FcStackConfig& stack) {
  Json list = LayerList(stack);
  json[num_layers] = list.size();
  json["fc_layers"] = std::move(list);
}

Json Preprocessing(const PreprocessingConfig& config, FeatureType type) {
  Json json = {{"missing_value_strategy", MissingName(config.missing)}};
  if (!config.fill_value.empty()) json["fill_value"] = config.fill_value;
  if (type == FeatureType::kNumber) {
    json["normalization"] = NameOrNone(config.normalization);
  } else if (type == FeatureType::kCategory) {
    json["most_common"] = config.most_common;
    json["lowercase"] = config.lowercase;
  } else if (!config.fallback_true_label.empty()) {
    json["fallback_true_label"] = config.fallback_true_label;
  }
  return json;
}

Json Input(const InputFeature& feature) {
  Json encoder = {{"type", feature.encoder.type}};
  if (feature.type == FeatureType::kCategory) {
    encoder["embedding_size"] = feature.encoder.embedding_size;
  } else {
    PutStack(encoder, "num_layers", feature.encoder.stack);
  }
  return {{"name", feature.name},
          {"type", FeatureTypeName(feature.type)},
          {"column", feature.column},
          {"preprocessing", Preprocessing(feature.preprocessing, feature.type)},
          {"encoder", encoder}};
}

Json Output(const OutputFeature& feature) {
  Json decoder = {{"type", feature.decoder.type}};
  PutStack(decoder, "num_fc_layers", feature.decoder.stack);
  Json json = {
      {"name", feature.name},
      {"type", FeatureTypeName(feature.type)},
      {"column", feature.column},
      {"preprocessing", Preprocessing(feature.preprocessing, feature.type)},
      {"decoder", decoder},
      {"loss", {{"type", feature.loss.type}, {"weight", feature.loss.weight}}}};
  if (feature.type == FeatureType::kCategory) json["top_k"] = feature.top_k;
  return json;
}

Json Trainer(const TrainerConfig& trainer) {
  const OptimizerConfig& optimizer = trainer.optimizer;
  Json optimizer_json = {{"type", optimizer.type},
                         {"betas", {optimizer.beta1, optimizer.beta2}},
                         {"eps", optimizer.eps},
                         {"weight_decay", optimizer.weight_decay},
                         {"momentum", optimizer.momentum},
                         {"nesterov", optimizer.nesterov},
                         {"amsgrad", optimizer.amsgrad}};
  return {{"epochs", trainer.epochs},
          {"batch_size", OrAuto(trainer.batch_size)},
          {"eval_batch_size", OrAuto(trainer.eval_batch_size)},
          {"learning_rate", trainer.learning_rate},
          {"learning_rate_scaling", trainer.learning_rate_scaling},
          {"optimizer", optimizer_json},
          {"early_stop", trainer.early_stop},
          {"validation_field", trainer.validation_field},
          {"validation_metric", trainer.validation_metric},
          {"should_shuffle", trainer.should_shuffle},
          {"gradient_clipping",
           {{"clipglobalnorm", trainer.clip_global_norm},
            {"clipvalue", trainer.clip_value}}}};
}

}  // namespace

Json ResolvedConfig(const ModelConfig& config) {
  Json json = {{"model_type", "ecd"}};
  if (!config.dataset.empty()) json["dataset"] = config.dataset;
  json["input_features"] = Json::array();
  for (const InputFeature& feature : config.inputs) {
    json["input_features"].push_back(Input(feature));
  }
  json["output_features"] = Json::array();
  for (const OutputFeature& feature : config.outputs) {
    json["output_features"].push_back(Output(feature));
  }
  json["combiner"] = {{"type", config.combiner.type}};
  PutStack(json["combiner"], "num_fc_layers", config.combiner.stack);
  json["preprocessing"]["split"] = {{"type", config.split.type},
                                    {"probabilities", config.split.probabilities},
                                    {"column", config.split.column},
                                    {"random_seed", config.split.random_seed}};
  json["trainer"] = Trainer(config.trainer);
  return json;
}

}  // namespace hyperopt

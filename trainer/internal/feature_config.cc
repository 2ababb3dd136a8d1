#include "trainer/internal/feature_config.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace hyperopt {
namespace {

using Json = ConfigReader::Json;
using Names = std::vector<const char*>;

constexpr FcKeys kEncoderFcKeys = {
    "num_layers", "output_size", "activation", "norm", "dropout", "use_bias"};
constexpr FcKeys kDecoderFcKeys = {"num_fc_layers",
                                   "fc_output_size",
                                   "fc_activation",
                                   "fc_norm",
                                   "fc_dropout",
                                   "fc_use_bias"};
constexpr std::array kTypes = {
    FeatureType::kNumber, FeatureType::kCategory, FeatureType::kBinary};
constexpr std::array kInitializers = {"weights_initializer",
                                      "bias_initializer",
                                      "fc_weights_initializer",
                                      "fc_bias_initializer",
                                      "norm_params",
                                      "fc_norm_params"};
Names EncoderTypes(FeatureType type) {
  if (type == FeatureType::kCategory) return {"dense", "onehot"};
  return {"passthrough", "dense"};
}

Names DecoderTypes(FeatureType type) {
  if (type == FeatureType::kCategory) return {"classifier"};
  return {"regressor"};
}

Names LossTypes(FeatureType type) {
  switch (type) {
    case FeatureType::kNumber:
      return {"mean_squared_error", "mean_absolute_error"};
    case FeatureType::kCategory:
      return {"softmax_cross_entropy"};
    case FeatureType::kBinary:
      return {"binary_weighted_cross_entropy"};
  }
  return {};
}

Names MissingStrategies(FeatureType type) {
  switch (type) {
    case FeatureType::kNumber:
      return {"fill_with_const", "fill_with_mean", "fill_with_mode", "drop_row"};
    case FeatureType::kCategory:
      return {"fill_with_const", "fill_with_mode", "drop_row"};
    case FeatureType::kBinary:
      return {"fill_with_false", "fill_with_const", "fill_with_mode", "drop_row"};
  }
  return {};
}

MissingValues MissingFromName(std::string_view name) {
  if (name == "fill_with_mean") return MissingValues::kFillMean;
  if (name == "fill_with_mode") return MissingValues::kFillMode;
  if (name == "drop_row") return MissingValues::kDropRow;
  return MissingValues::kFillConst;  // fill_with_false is a constant too
}

PreprocessingConfig ParsePreprocessing(ConfigReader& reader,
                                       FeatureType type,
                                       PreprocessingConfig value) {
  value.missing = MissingFromName(reader.Choice(
      "missing_value_strategy", MissingName(value.missing), MissingStrategies(type)));
  value.fill_value = reader.Scalar("fill_value", value.fill_value);
  if (type == FeatureType::kNumber) {
    const std::string normalization =
        reader.Choice("normalization",
                      value.normalization.empty() ? "none" : value.normalization,
                      std::array{"zscore", "minmax", "none"});
    // Ludwig writes `normalization: null` for none, which must win over the default.
    const bool off = normalization == "none" || reader.IsNull("normalization");
    value.normalization = off ? "" : normalization;
  } else if (type == FeatureType::kCategory) {
    value.most_common = reader.Int("most_common", value.most_common, 1, 1 << 24);
    value.lowercase = reader.Bool("lowercase", value.lowercase);
  } else {
    value.fallback_true_label =
        reader.Scalar("fallback_true_label", value.fallback_true_label);
  }
  reader.Unsupported(std::array{"computed_fill_value",
                                "outlier_strategy",
                                "outlier_threshold",
                                "computed_outlier_fill_value",
                                "cache_encoder_embeddings"});
  reader.Finish();
  return value;
}

EncoderConfig ParseEncoder(ConfigReader& reader,
                           FeatureType type,
                           EncoderConfig value) {
  value.type = reader.Choice("type", value.type, EncoderTypes(type));
  if (type == FeatureType::kCategory) {
    value.embedding_size =
        reader.Int("embedding_size", value.embedding_size, 1, kMaxWidth);
  } else {
    value.stack = ParseFcStack(reader, kEncoderFcKeys, value.stack);
  }
  reader.Unsupported(std::array{"embedding_initializer",
                                "embeddings_on_cpu",
                                "embeddings_trainable",
                                "pretrained_embeddings",
                                "skip"});
  reader.Unsupported(kInitializers);
  reader.Finish();
  return value;
}

DecoderConfig ParseDecoder(ConfigReader& reader,
                           FeatureType type,
                           DecoderConfig value) {
  value.type = reader.Choice("type", value.type, DecoderTypes(type));
  value.stack = ParseFcStack(reader, kDecoderFcKeys, value.stack);
  reader.Unsupported(std::array{"input_size", "num_classes", "use_bias"});
  reader.Unsupported(kInitializers);
  reader.Finish();
  return value;
}

LossConfig ParseLoss(ConfigReader& reader, FeatureType type, LossConfig value) {
  value.type = reader.Choice("type", value.type, LossTypes(type));
  value.weight = reader.Number("weight", value.weight, 0, INFINITY);
  reader.Unsupported(std::array{"class_weights",
                                "positive_class_weight",
                                "robust_lambda",
                                "confidence_penalty",
                                "class_similarities",
                                "class_similarities_temperature"});
  reader.Finish();
  return value;
}

TypeDefaults BuiltInDefaults(FeatureType type) {
  TypeDefaults defaults;
  defaults.output_preprocessing.missing = MissingValues::kDropRow;
  defaults.encoder.type = EncoderTypes(type)[0];
  defaults.encoder.stack.num_layers = 1;
  defaults.decoder.type = DecoderTypes(type)[0];
  defaults.loss.type = LossTypes(type)[0];
  if (type == FeatureType::kNumber) {
    defaults.input_preprocessing.normalization = "zscore";
    defaults.output_preprocessing.normalization = "zscore";
  }
  return defaults;
}

std::optional<FeatureType> ParseType(ConfigReader& reader) {
  const Json* value = reader.Take("type");
  if (value == nullptr) {
    reader.Fail("type", "is missing; number, category or binary");
    return std::nullopt;
  }
  const std::string name = value->is_string() ? value->get<std::string>() : "";
  for (FeatureType type : kTypes) {
    if (name == FeatureTypeName(type)) return type;
  }
  if (name == "numerical") {
    reader.Fail("type",
                "numerical is the spelling of Ludwig 0.4 and before; write number");
    return std::nullopt;
  }
  Names names;
  for (FeatureType type : kTypes) names.push_back(FeatureTypeName(type).data());
  return reader.Choice("type", "", names).empty() ? std::nullopt
                                                  : std::optional(FeatureType());
}

// A part of a feature (`encoder`, `loss`) that Ludwig 0.5 and before wrote as a word.
void RefuseWord(ConfigReader& reader, const char* key, const Json*& section) {
  if (section == nullptr || !section->is_string()) return;
  reader.Fail(key,
              fmt::format("write {}: {{type: {}}}", key, section->get<std::string>()));
  section = nullptr;
}

void ParseName(ConfigReader& reader, std::string& name, std::string& column) {
  name = reader.String("name", "");
  if (name.empty() && !reader.Has("name")) reader.Fail("name", "is missing");
  column = reader.String("column", name);
}

const Json* Part(ConfigReader& reader, const char* key) {
  const Json* section = reader.Take(key);
  RefuseWord(reader, key, section);
  return section;
}

// Until Ludwig 0.5 the keys of encoder, decoder and preprocessing stood in the feature.
void RefuseFlatKeys(ConfigReader& reader, const char* layers_part) {
  for (const char* key :
       {"num_fc_layers", "fc_layers", "num_layers", "dropout", "norm"}) {
    reader.Renamed(key, fmt::format("it under {}:", layers_part));
  }
  reader.Renamed("fc_size", fmt::format("output_size under {}:", layers_part));
  reader.Renamed("embedding_size", "it under encoder:");
  for (const char* key : {"missing_value_strategy", "fill_value", "normalization"}) {
    reader.Renamed(key, "it under preprocessing:");
  }
}

InputFeature ParseInput(const Json& json,
                        const std::string& path,
                        const std::map<FeatureType, TypeDefaults>& defaults,
                        ReadLog& log) {
  ConfigReader reader(&json, path, log);
  InputFeature feature;
  ParseName(reader, feature.name, feature.column);
  const auto type = ParseType(reader);
  const Json* preprocessing = Part(reader, "preprocessing");
  const Json* encoder = Part(reader, "encoder");
  reader.Unsupported(std::array{"tied", "proc_column", "active"});
  RefuseFlatKeys(reader, "encoder");
  reader.Finish();
  if (!type) return feature;
  feature.type = *type;
  const TypeDefaults& base = defaults.at(*type);
  ConfigReader preprocessing_reader(preprocessing, reader.PathOf("preprocessing"), log);
  feature.preprocessing =
      ParsePreprocessing(preprocessing_reader, *type, base.input_preprocessing);
  ConfigReader encoder_reader(encoder, reader.PathOf("encoder"), log);
  feature.encoder = ParseEncoder(encoder_reader, *type, base.encoder);
  return feature;
}

OutputFeature ParseOutput(const Json& json,
                          const std::string& path,
                          const std::map<FeatureType, TypeDefaults>& defaults,
                          ReadLog& log) {
  ConfigReader reader(&json, path, log);
  OutputFeature feature;
  ParseName(reader, feature.name, feature.column);
  if (feature.name == "combined") {
    reader.Fail("name", "combined is the name of the summed loss; choose another");
  }
  const auto type = ParseType(reader);
  const Json* preprocessing = Part(reader, "preprocessing");
  const Json* decoder = Part(reader, "decoder");
  const Json* loss = Part(reader, "loss");
  if (type == FeatureType::kCategory) {
    feature.top_k = reader.Int("top_k", feature.top_k, 1, kMaxWidth);
  }
  reader.Unsupported(std::array{"dependencies",
                                "reduce_input",
                                "reduce_dependencies",
                                "calibration",
                                "threshold",
                                "clip",
                                "proc_column",
                                "default_validation_metric"});
  RefuseFlatKeys(reader, "decoder");
  reader.Finish();
  if (!type) return feature;
  feature.type = *type;
  const TypeDefaults& base = defaults.at(*type);
  ConfigReader preprocessing_reader(preprocessing, reader.PathOf("preprocessing"), log);
  feature.preprocessing =
      ParsePreprocessing(preprocessing_reader, *type, base.output_preprocessing);
  ConfigReader decoder_reader(decoder, reader.PathOf("decoder"), log);
  feature.decoder = ParseDecoder(decoder_reader, *type, base.decoder);
  ConfigReader loss_reader(loss, reader.PathOf("loss"), log);
  feature.loss = ParseLoss(loss_reader, *type, base.loss);
  return feature;
}

template <typename Feature, typename Parse>
std::vector<Feature> ParseList(const Json* list,
                               const char* key,
                               ReadLog& log,
                               const Parse& parse) {
  std::vector<Feature> features;
  if (list == nullptr || !list->is_array() || list->empty()) {
    log.errors.push_back({key, "must be a list of at least one feature"});
    return features;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    features.push_back(parse((*list)[i], fmt::format("{}.{}", key, i)));
  }
  return features;
}

}  // namespace

std::string_view FeatureTypeName(FeatureType type) {
  switch (type) {
    case FeatureType::kNumber:
      return "number";
    case FeatureType::kCategory:
      return "category";
    case FeatureType::kBinary:
      return "binary";
  }
  return "";
}

const char* MissingName(MissingValues missing) {
  switch (missing) {
    case MissingValues::kFillConst:
      return "fill_with_const";
    case MissingValues::kFillMean:
      return "fill_with_mean";
    case MissingValues::kFillMode:
      return "fill_with_mode";
    case MissingValues::kDropRow:
      return "drop_row";
  }
  return "";
}

std::map<FeatureType, TypeDefaults> ParseDefaults(ConfigReader& reader) {
  std::map<FeatureType, TypeDefaults> all;
  for (FeatureType type : kTypes) {
    TypeDefaults& defaults = all[type] = BuiltInDefaults(type);
    const std::string key(FeatureTypeName(type));
    ConfigReader section(reader.Take(key.c_str()), reader.PathOf(key), reader.log());
    ConfigReader preprocessing(
        section.Take("preprocessing"), section.PathOf("preprocessing"), reader.log());
    const bool strategy = preprocessing.Has("missing_value_strategy");
    const MissingValues output_missing = defaults.output_preprocessing.missing;
    defaults.input_preprocessing =
        ParsePreprocessing(preprocessing, type, defaults.input_preprocessing);
    // A target that is not there can not be learned from: rows are dropped unless the
    // file says otherwise.
    defaults.output_preprocessing = defaults.input_preprocessing;
    if (!strategy) defaults.output_preprocessing.missing = output_missing;
    ConfigReader encoder(
        section.Take("encoder"), section.PathOf("encoder"), reader.log());
    defaults.encoder = ParseEncoder(encoder, type, defaults.encoder);
    ConfigReader decoder(
        section.Take("decoder"), section.PathOf("decoder"), reader.log());
    defaults.decoder = ParseDecoder(decoder, type, defaults.decoder);
    ConfigReader loss(section.Take("loss"), section.PathOf("loss"), reader.log());
    defaults.loss = ParseLoss(loss, type, defaults.loss);
    section.Finish();
  }
  reader.Renamed("numerical", "number");
  reader.Finish();
  return all;
}

std::vector<InputFeature> ParseInputs(
    const Json* list,
    const std::map<FeatureType, TypeDefaults>& defaults,
    ReadLog& log) {
  return ParseList<InputFeature>(
      list, "input_features", log, [&](const Json& json, const std::string& path) {
        return ParseInput(json, path, defaults, log);
      });
}

std::vector<OutputFeature> ParseOutputs(
    const Json* list,
    const std::map<FeatureType, TypeDefaults>& defaults,
    ReadLog& log) {
  return ParseList<OutputFeature>(
      list, "output_features", log, [&](const Json& json, const std::string& path) {
        return ParseOutput(json, path, defaults, log);
      });
}

}  // namespace hyperopt

#include "trainer/model_config.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "trainer/internal/feature_config.h"

namespace hyperopt {
namespace {

using Json = ConfigReader::Json;

// Keys of a search file that are not the model's.
constexpr std::array kOthersKeys = {"hyperopt",
                                    "backend",
                                    "name",
                                    "base_config",
                                    "workdir",
                                    "env",
                                    "keep_env",
                                    "read",
                                    "ranks",
                                    "ludwig_version"};

CombinerConfig ParseCombiner(const Json* section, ReadLog& log) {
  CombinerConfig combiner;
  ConfigReader reader(section, "combiner", log);
  combiner.type = reader.Choice("type", combiner.type, std::array{"concat"});
  combiner.stack = ParseFcStack(reader, kCombinerFcKeys, combiner.stack);
  reader.Renamed("fc_size", "output_size");
  reader.Unsupported(std::array{"flatten_inputs",
                                "residual",
                                "weights_initializer",
                                "bias_initializer",
                                "norm_params"});
  reader.Finish();
  return combiner;
}

void ParseBetas(ConfigReader& reader, OptimizerConfig& optimizer) {
  const Json* betas = reader.Take("betas");
  if (betas == nullptr) return;
  double values[2] = {-1, -1};
  for (size_t i = 0; betas->is_array() && betas->size() == 2 && i < 2; ++i) {
    if ((*betas)[i].is_number()) values[i] = (*betas)[i].get<double>();
  }
  for (double value : values) {
    if (!(value >= 0 && value < 1)) {
      reader.Fail("betas",
                  "must be a list of two numbers, each at least 0 and below 1");
      return;
    }
  }
  optimizer.beta1 = values[0];
  optimizer.beta2 = values[1];
}

OptimizerConfig ParseOptimizer(const Json* section, ReadLog& log) {
  const Json word = section != nullptr && section->is_string()
                        ? Json{{"type", *section}}
                        : Json(nullptr);
  ConfigReader reader(word.is_null() ? section : &word, "trainer.optimizer", log);
  OptimizerConfig optimizer;
  optimizer.type =
      reader.Choice("type", optimizer.type, std::array{"sgd", "adam", "adamw"});
  ParseBetas(reader, optimizer);
  optimizer.eps = reader.Number("eps", optimizer.eps, 0, INFINITY);
  optimizer.weight_decay =
      reader.Number("weight_decay", optimizer.weight_decay, 0, INFINITY);
  optimizer.momentum = reader.Number("momentum", optimizer.momentum, 0, 1);
  optimizer.nesterov = reader.Bool("nesterov", optimizer.nesterov);
  optimizer.amsgrad = reader.Bool("amsgrad", optimizer.amsgrad);
  if (optimizer.nesterov && optimizer.momentum == 0 && optimizer.type == "sgd") {
    reader.Fail("nesterov", "needs a momentum above 0");
  }
  reader.Renamed("beta1", "betas: [beta1, beta2]");
  reader.Renamed("beta2", "betas: [beta1, beta2]");
  reader.Unsupported(std::array{"lr", "dampening"});
  reader.Finish();
  return optimizer;
}

std::optional<int64_t> IntOrAuto(ConfigReader& reader,
                                 const char* key,
                                 std::optional<int64_t> fallback) {
  const Json* value = reader.Take(key);
  if (value == nullptr) return fallback;
  if (*value == "auto") return std::nullopt;
  if (value->is_string()) {
    reader.Fail(
        key,
        fmt::format("must be an integer of at least 1 or auto, not {}", value->dump()));
    return fallback;
  }
  return reader.Int(key, fallback.value_or(1), 1, int64_t{1} << 30);
}

void ParseClipping(const Json* section, TrainerConfig& trainer, ReadLog& log) {
  ConfigReader reader(section, "trainer.gradient_clipping", log);
  const bool off = reader.IsNull("clipglobalnorm");
  trainer.clip_global_norm =
      reader.Number("clipglobalnorm", off ? 0 : trainer.clip_global_norm, 0, INFINITY);
  trainer.clip_value = reader.Number("clipvalue", trainer.clip_value, 0, INFINITY);
  reader.Unsupported(std::array{"clipnorm"});
  reader.Finish();
}

constexpr std::array kUnsupportedTrainerKeys = {
    "train_steps",
    "eval_steps",
    "steps_per_checkpoint",
    "checkpoints_per_epoch",
    "max_batch_size",
    "effective_batch_size",
    "gradient_accumulation_steps",
    "evaluate_training_set",
    "learning_rate_scheduler",
    "increase_batch_size_on_plateau",
    "increase_batch_size_on_plateau_patience",
    "increase_batch_size_on_plateau_rate",
    "increase_batch_size_eval_metric",
    "increase_batch_size_eval_split",
    "regularization_lambda",
    "regularization_type",
    "use_mixed_precision",
    "enable_gradient_checkpointing",
    "enable_profiling",
    "profiler",
    "compile",
    "bucketing_field",
    "skip_all_evaluation",
    "layers_to_freeze_regex"};

TrainerConfig ParseTrainer(const Json* section, ReadLog& log) {
  TrainerConfig trainer;
  ConfigReader reader(section, "trainer", log);
  reader.Choice("type", "trainer", std::array{"trainer"});
  trainer.epochs = reader.Int("epochs", trainer.epochs, 1, kMaxCount);
  trainer.batch_size = IntOrAuto(reader, "batch_size", trainer.batch_size);
  trainer.eval_batch_size = IntOrAuto(reader, "eval_batch_size", std::nullopt);
  const Json* rate = reader.Take("learning_rate");
  if (rate == nullptr || *rate != "auto") {
    trainer.learning_rate =
        reader.Number("learning_rate", trainer.learning_rate, 0, INFINITY);
  }
  trainer.learning_rate_scaling =
      reader.Choice("learning_rate_scaling",
                    trainer.learning_rate_scaling,
                    std::array{"constant", "sqrt", "linear"});
  trainer.optimizer = ParseOptimizer(reader.Take("optimizer"), log);
  trainer.early_stop = reader.Int("early_stop", trainer.early_stop, -1, kMaxCount);
  trainer.validation_metric =
      reader.String("validation_metric", trainer.validation_metric);
  trainer.validation_field = reader.String("validation_field", "");
  trainer.should_shuffle = reader.Bool("should_shuffle", trainer.should_shuffle);
  ParseClipping(reader.Take("gradient_clipping"), trainer, log);
  reader.Unsupported(kUnsupportedTrainerKeys);
  reader.Finish();
  return trainer;
}

void ParseProbabilities(ConfigReader& reader, SplitConfig& split) {
  const Json* list = reader.Take("probabilities");
  if (list == nullptr) return;
  std::vector<double> values;
  double sum = 0;
  bool usable = list->is_array() && list->size() == 3;
  for (size_t i = 0; usable && i < 3; ++i) {
    usable = (*list)[i].is_number() && (*list)[i].get<double>() >= 0;
    if (usable) values.push_back((*list)[i].get<double>());
  }
  for (double value : values) sum += value;
  if (!usable || std::abs(sum - 1) > 1e-6) {
    reader.Fail("probabilities",
                "must be three numbers for train, validation and test whose sum is 1");
  } else if (values[0] == 0) {
    reader.Fail("probabilities", "leave no rows to train on");
  } else {
    split.probabilities = values;
  }
}

SplitConfig ParsePreprocessingSection(const Json* section, ReadLog& log) {
  SplitConfig split;
  ConfigReader reader(section, "preprocessing", log);
  ConfigReader inner(reader.Take("split"), "preprocessing.split", log);
  split.type =
      inner.Choice("type", split.type, std::array{"random", "stratify", "fixed"});
  ParseProbabilities(inner, split);
  split.column = inner.String("column", split.column);
  if (split.type == "stratify" && !inner.Has("column")) {
    inner.Fail("column", "is missing; stratify needs the column to balance");
  }
  split.random_seed = static_cast<uint64_t>(
      inner.Int("random_seed", static_cast<int64_t>(split.random_seed), 0, kMaxCount));
  inner.Finish();
  reader.Renamed("split_probabilities", "split: {type: random, probabilities: [...]}");
  reader.Renamed("force_split", "split: {type: random}");
  reader.Renamed("stratify", "split: {type: stratify, column: ...}");
  reader.Renamed("numerical", "defaults.number.preprocessing");
  for (const char* type : {"number", "category", "binary"}) {
    reader.Renamed(type, fmt::format("defaults.{}.preprocessing", type));
  }
  reader.Unsupported(std::array{"sample_ratio",
                                "sample_size",
                                "oversample_minority",
                                "undersample_majority",
                                "cache_encoder_embeddings",
                                "global_max_sequence_length"});
  reader.Finish();
  return split;
}

void CheckNames(const ModelConfig& config, ReadLog& log) {
  std::set<std::string> seen;
  const auto check = [&](const std::string& name, const std::string& path) {
    if (!name.empty() && !seen.insert(name).second) {
      log.errors.push_back({path, fmt::format("{} names two features", name)});
    }
  };
  for (size_t i = 0; i < config.inputs.size(); ++i) {
    check(config.inputs[i].name, fmt::format("input_features.{}.name", i));
  }
  for (size_t i = 0; i < config.outputs.size(); ++i) {
    check(config.outputs[i].name, fmt::format("output_features.{}.name", i));
  }
}

bool HasMetric(const OutputFeature& feature, std::string_view metric) {
  for (const std::string& name : MetricNames(FeatureTypeName(feature.type))) {
    if (name == metric) return true;
  }
  return false;
}

// The field is that of the first output feature with the metric where the file names
// only the metric.
void SettleValidation(ModelConfig& config, ReadLog& log) {
  TrainerConfig& trainer = config.trainer;
  std::string known = "combined";
  const bool free = trainer.validation_field.empty();
  if (trainer.validation_metric == "loss" && free)
    trainer.validation_field = "combined";
  if (trainer.validation_field == "combined") {
    if (trainer.validation_metric == "loss") return;
    log.errors.push_back(
        {"trainer.validation_metric", "combined has only the metric loss"});
    return;
  }
  for (const OutputFeature& feature : config.outputs) {
    known += ", " + feature.name;
    if (!free && feature.name != trainer.validation_field) continue;
    if (HasMetric(feature, trainer.validation_metric)) {
      trainer.validation_field = feature.name;
      return;
    }
    if (free) continue;
    log.errors.push_back(
        {"trainer.validation_metric",
         fmt::format("{} has no metric {}; it has {}",
                     feature.name,
                     trainer.validation_metric,
                     fmt::join(MetricNames(FeatureTypeName(feature.type)), ", "))});
    return;
  }
  if (free) {
    log.errors.push_back({"trainer.validation_metric",
                          fmt::format("no output feature has the metric {}",
                                      trainer.validation_metric)});
  } else {
    log.errors.push_back(
        {"trainer.validation_field",
         fmt::format(
             "no output feature {}; known: {}", trainer.validation_field, known)});
  }
}

ModelConfig Parse(const Json& json, ReadLog& log) {
  ModelConfig config;
  ConfigReader reader(&json, "", log);
  reader.Choice("model_type", "ecd", std::array{"ecd"});
  ConfigReader defaults_reader(reader.Take("defaults"), "defaults", log);
  const auto defaults = ParseDefaults(defaults_reader);
  config.inputs = ParseInputs(reader.Take("input_features"), defaults, log);
  config.outputs = ParseOutputs(reader.Take("output_features"), defaults, log);
  config.combiner = ParseCombiner(reader.Take("combiner"), log);
  config.trainer = ParseTrainer(reader.Take("trainer"), log);
  config.split = ParsePreprocessingSection(reader.Take("preprocessing"), log);
  config.dataset = reader.String("dataset", "");
  reader.Renamed("training", "trainer");
  reader.Ignore(kOthersKeys);
  reader.Finish();
  CheckNames(config, log);
  SettleValidation(config, log);
  return config;
}

}  // namespace

ModelConfig ParseModelConfig(const Json& json, std::vector<SchemaError>& errors) {
  ReadLog log;
  ModelConfig config = Parse(json, log);
  errors.insert(errors.end(), log.errors.begin(), log.errors.end());
  return config;
}

std::vector<std::string> UnderstoodKeys() {
  // Every section that has keys of its own is there once, so that reading it asks for
  // all of them.
  const Json sample = Json::parse(R"({
    "input_features": [{"type": "number"}, {"type": "category"}, {"type": "binary"}],
    "output_features": [{"type": "number"}, {"type": "category"}, {"type": "binary"}],
    "combiner": {"fc_layers": [{}]}})");
  ReadLog log;
  Parse(sample, log);
  std::set<std::string> keys;
  for (const std::string& key : log.keys) {
    std::string general;
    for (size_t i = 0; i < key.size(); ++i) {
      const bool item = i > 0 && key[i - 1] == '.' && key[i] >= '0' && key[i] <= '9';
      general += item ? '*' : key[i];
    }
    keys.insert(general);
  }
  return {keys.begin(), keys.end()};
}

}  // namespace hyperopt

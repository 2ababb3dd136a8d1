#include "trainer/schema.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "trainer/model_config.h"
#include "trainer/options.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

using Json = nlohmann::ordered_json;

Json Valid() {
  return Json::parse(R"({
    "input_features": [{"name": "x", "type": "number"}, {"name": "c", "type": "category"}],
    "output_features": [{"name": "y", "type": "category"}, {"name": "z", "type": "number"}],
    "trainer": {"epochs": 3}, "hyperopt": {"anything": 1}, "backend": {"type": "local"}})");
}

std::vector<SchemaError> ErrorsOf(const char* pointer, const Json& value) {
  Json config = Valid();
  config[Json::json_pointer(pointer)] = value;
  return ValidateModelConfig(config);
}

// The one error of a config with one value changed.
SchemaError ErrorOf(const char* pointer, const Json& value) {
  const auto errors = ErrorsOf(pointer, value);
  CAPTURE(pointer);
  REQUIRE(errors.size() == 1);
  return errors[0];
}

TEST_CASE("a valid config has no errors and Ludwig's defaults") {
  std::vector<SchemaError> errors;
  const ModelConfig config = ParseModelConfig(Valid(), errors);
  CHECK(errors.empty());
  CHECK(config.inputs[0].column == "x");
  CHECK(config.inputs[0].encoder.type == "passthrough");
  CHECK(config.inputs[0].preprocessing.normalization == "zscore");
  CHECK(config.inputs[1].encoder.embedding_size == 50);
  CHECK(config.outputs[0].loss.type == "softmax_cross_entropy");
  CHECK(config.combiner.stack.Layers().empty());
  CHECK(config.trainer.epochs == 3);
  CHECK(config.trainer.batch_size == 128);
  CHECK(config.trainer.optimizer.type == "adam");
  CHECK(config.trainer.early_stop == 5);
  CHECK(config.split.probabilities == std::vector<double>{0.7, 0.1, 0.2});
}

TEST_CASE("errors name their path, and the right key where one is near") {
  CHECK(ErrorOf("/trainer/epoch", 3) ==
        SchemaError{"trainer.epoch", "unknown key; did you mean epochs?"});
  CHECK(ErrorOf("/combinr", Json::object()) ==
        SchemaError{"combinr", "unknown key; did you mean combiner?"});
  CHECK(ErrorOf("/combiner", Json{{"zzz", 1}}) ==
        SchemaError{"combiner.zzz", "unknown key"});
  CHECK(ErrorOf("/input_features/1/encoder", Json{{"type", "onehto"}}) ==
        SchemaError{"input_features.1.encoder.type",
                    "must be dense or onehot, not \"onehto\"; did you mean onehot?"});
  CHECK(ErrorOf("/trainer/optimizer", "admw").path == "trainer.optimizer.type");
  CHECK(ErrorOf("/trainer/epochs", 0).message ==
        "must be an integer from 1 to 9007199254740992, not 0");
  CHECK(ErrorOf("/trainer/epochs", 2.5).path == "trainer.epochs");
  CHECK(ErrorOf("/trainer/learning_rate", "1e-3").path == "trainer.learning_rate");
  CHECK(ErrorOf("/trainer/learning_rate", -1).path == "trainer.learning_rate");
  CHECK(ErrorOf("/trainer", Json::array()).message == "must be a map, not []");
}

TEST_CASE("all errors come at once") {
  Json config = Valid();
  config["trainer"] = {{"epochs", -1}, {"lerning_rate", 1}};
  config["combiner"] = {{"dropout", 2}};
  config["input_features"][0]["type"] = "text";
  CHECK(ValidateModelConfig(config).size() == 4);
  CHECK(ValidateModelConfig(Json::object()).size() == 2);
  CHECK(ValidateModelConfig(Json(7)).size() == 3);
}

TEST_CASE("spellings of Ludwig 0.4 and before are refused with the new one") {
  CHECK(ErrorOf("/input_features/0/type", "numerical").message ==
        "numerical is the spelling of Ludwig 0.4 and before; write number");
  CHECK(ErrorOf("/training", Json::object()).message ==
        "spelling of Ludwig 0.4 and before; write trainer");
  CHECK(ErrorOf("/input_features/1/encoder", "onehot").message ==
        "write encoder: {type: onehot}");
  CHECK(ErrorOf("/combiner", Json{{"fc_size", 3}}).message ==
        "spelling of Ludwig 0.4 and before; write output_size");
  CHECK(ErrorOf("/preprocessing", Json{{"split_probabilities", 1}}).path ==
        "preprocessing.split_probabilities");
}

TEST_CASE("what Ludwig has and the trainer has not is told so") {
  CHECK(ErrorOf("/trainer/use_mixed_precision", true).message ==
        "Ludwig has this key, the built-in trainer does not support it");
  CHECK(ErrorsOf("/trainer/use_mixed_precision", nullptr).empty());
}

TEST_CASE("features: names are there and unique") {
  CHECK(ErrorOf("/output_features/0/name", "x").path == "output_features.0.name");
  CHECK(ErrorOf("/output_features/0/name", "combined").path ==
        "output_features.0.name");
  CHECK(ErrorOf("/input_features/0/name", nullptr).message == "is missing");
}

TEST_CASE("defaults hold for every feature of the type, the feature's own keys win") {
  Json json = Valid();
  json["defaults"]["number"]["preprocessing"]["normalization"] = "minmax";
  json["defaults"]["category"]["encoder"]["embedding_size"] = 7;
  json["defaults"]["category"]["decoder"]["num_fc_layers"] = 2;
  json["input_features"].push_back({{"name", "n"},
                                    {"type", "number"},
                                    {"preprocessing", {{"normalization", nullptr}}}});
  json["output_features"][0]["decoder"] = {{"fc_output_size", 5}};
  std::vector<SchemaError> errors;
  const ModelConfig config = ParseModelConfig(json, errors);
  CHECK(errors.empty());
  CHECK(config.inputs[0].preprocessing.normalization == "minmax");
  CHECK(config.inputs[1].encoder.embedding_size == 7);
  CHECK(config.inputs[2].preprocessing.normalization.empty());
  REQUIRE(config.outputs[0].decoder.stack.Layers().size() == 2);
  CHECK(config.outputs[0].decoder.stack.Layers()[1].output_size == 5);
  // A target that is not there is dropped, whatever inputs are filled with.
  CHECK(config.outputs[1].preprocessing.missing == MissingValues::kDropRow);
  CHECK(ErrorOf("/defaults", Json{{"number", {{"encodr", 1}}}}).path ==
        "defaults.number.encodr");
}

TEST_CASE("fc_layers are taken one by one and win over num_fc_layers") {
  Json json = Valid();
  json["combiner"] = {{"num_fc_layers", 5},
                      {"dropout", 0.25},
                      {"fc_layers", {{{"output_size", 8}}, {{"norm", "layer"}}}}};
  std::vector<SchemaError> errors;
  const auto layers = ParseModelConfig(json, errors).combiner.stack.Layers();
  CHECK(errors.empty());
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].output_size == 8);
  CHECK(layers[0].dropout == 0.25);
  CHECK(layers[1].output_size == 256);
  CHECK(layers[1].norm == "layer");
  CHECK(ErrorOf("/combiner", Json{{"fc_layers", {{{"size", 8}}}}}).path ==
        "combiner.fc_layers.0.size");
}

TEST_CASE("validation_metric finds its feature, or says what there is") {
  std::vector<SchemaError> errors;
  Json json = Valid();
  json["trainer"]["validation_metric"] = "r2";
  CHECK(ParseModelConfig(json, errors).trainer.validation_field == "z");
  CHECK(errors.empty());
  CHECK(ErrorOf("/trainer/validation_metric", "recall").path ==
        "trainer.validation_metric");
  CHECK(ErrorOf("/trainer/validation_field", "q").message ==
        "no output feature q; known: combined, y, z");
  json["trainer"]["validation_field"] = "y";
  CHECK(ValidateModelConfig(json).at(0).message ==
        "y has no metric r2; it has loss, accuracy, hits_at_k, roc_auc");
}

TEST_CASE("split: probabilities and column") {
  CHECK(ErrorsOf("/preprocessing",
                 Json::parse(R"({"split": {"probabilities": [0.8, 0.1, 0.1]}})"))
            .empty());
  CHECK(ErrorOf("/preprocessing",
                Json::parse(R"({"split": {"probabilities": [0.8, 0.1, 0.2]}})"))
            .path == "preprocessing.split.probabilities");
  CHECK(ErrorOf("/preprocessing", Json::parse(R"({"split": {"type": "stratify"}})"))
            .path == "preprocessing.split.column");
}

TEST_CASE("the resolved config reads back to itself") {
  Json json = Valid();
  json["combiner"] = {{"num_fc_layers", 2}, {"norm", "batch"}, {"activation", "tanh"}};
  json["trainer"]["batch_size"] = "auto";
  json["trainer"]["optimizer"] = {{"type", "sgd"}, {"momentum", 0.5}};
  json["trainer"]["gradient_clipping"] = {{"clipglobalnorm", nullptr}};
  std::vector<SchemaError> errors;
  const Json once = ResolvedConfig(ParseModelConfig(json, errors));
  const Json twice = ResolvedConfig(ParseModelConfig(once, errors));
  CHECK(errors.empty());
  CHECK(once == twice);
  CHECK(once["trainer"]["batch_size"] == "auto");
  CHECK(once["trainer"]["gradient_clipping"]["clipglobalnorm"] == 0.0);
  CHECK(once["combiner"]["fc_layers"].size() == 2);
}

TEST_CASE("keys, metrics and fields that a search may name") {
  const auto keys = UnderstoodKeys();
  for (const char* key : {"trainer.learning_rate",
                          "combiner.num_fc_layers",
                          "input_features.*.encoder.embedding_size",
                          "defaults.number.preprocessing.normalization",
                          "trainer.optimizer.type"}) {
    CHECK_MESSAGE(std::count(keys.begin(), keys.end(), key) == 1, key);
  }
  const auto fields = ReportedFields(Valid());
  for (const char* field : {"validation.y.accuracy",
                            "test.z.r2",
                            "train.combined.loss",
                            "loss",
                            "accuracy",
                            "r2"}) {
    CHECK_MESSAGE(std::count(fields.begin(), fields.end(), field) == 1, field);
  }
  CHECK(MetricNames("text").empty());
  CHECK(GoalOfMetric("mean_squared_error") == MetricGoal::kMinimize);
  CHECK(GoalOfMetric("roc_auc") == MetricGoal::kMaximize);
}

TEST_CASE("options: the environment of a trial") {
  std::map<std::string, const char*> env = {{"HYPEROPT_CONFIG", "/t/config.json"},
                                            {"HYPEROPT_BUDGET", "9.0"},
                                            {"HYPEROPT_SEED", "18446744073709551615"},
                                            {"RANK", "1"},
                                            {"WORLD_SIZE", "2"},
                                            {"MASTER_PORT", "5000"}};
  const auto read = [&] {
    return OptionsFromEnvironment([&](const char* name) -> const char* {
      const auto found = env.find(name);
      return found == env.end() ? nullptr : found->second;
    });
  };
  const TrainerOptions options = read();
  CHECK(options.budget == 9);
  CHECK(options.seed == UINT64_MAX);
  CHECK(options.rank.distributed);
  CHECK(options.rank.local_rank == 1);
  CHECK(options.rank.master_port == 5000);
  CHECK(!options.report);
  env["RANK"] = "2";
  CHECK_THROWS_AS(read(), ConfigError);
  env.erase("RANK");
  CHECK_THROWS_AS(read(), ConfigError);
  env.erase("WORLD_SIZE");
  CHECK(!read().rank.distributed);
  env["HYPEROPT_BUDGET"] = "nan";
  CHECK_THROWS_AS(read(), ConfigError);
}

}  // namespace
}  // namespace hyperopt

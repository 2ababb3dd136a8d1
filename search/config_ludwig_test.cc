// Ludwig's own search files, its traps, and its older spellings.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::ErrorsOf;
using testing::Has;
using testing::LudwigFile;
using testing::Parse;

std::string File(const std::string& name) {
  std::ifstream stream(std::string(HYPEROPT_SOURCE_DIR "/search/testdata/ludwig/") +
                       name);
  REQUIRE(stream);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST_SUITE_BEGIN("config ludwig");

TEST_CASE("a whole file of Ludwig's runs as it is") {
  const SearchConfig config = Parse(File("rotten_tomatoes_getting_started.yaml"));
  CHECK(config.command.empty());
  CHECK(config.goal == Goal::kMaximize);
  CHECK(config.metric_field() == "validation.recommended.accuracy");
  CHECK(config.sampler.kind == SamplerKind::kRandom);
  CHECK(config.executor.num_samples == 10);
  CHECK(config.space.size() == 3);
  CHECK(config.space.Find("review_content.embedding_size") != nullptr);
  CHECK(Contains(config.model, "\"input_features\""));
  CHECK_FALSE(Contains(config.model, "hyperopt"));
  CHECK(Has(config.notes, "time_budget_s is absent: no limit (Ludwig: 3600)"));
}

TEST_CASE("the documented examples, with the features that they leave out") {
  const SearchConfig grid = Parse(File("adult_grid_docs.yaml") + testing::kFeatures);
  CHECK(grid.sampler.seed == 1919);
  CHECK(grid.executor.num_samples == 1);
  CHECK(grid.metric_field() == "validation.income.roc_auc");
  const SearchConfig random =
      Parse(File("adult_random_docs.yaml") + testing::kFeatures);
  CHECK(random.space.Find("income.decoder.num_fc_layers")->domain ==
        Domain{IntDomain{2, 8, false, 1}});
  const SearchConfig mixed =
      Parse(File("mixed_grid_random_docs.yaml") + testing::kFeatures);
  CHECK(mixed.executor.num_samples == 1);
  CHECK(std::get<CategoricalDomain>(mixed.space.Find("title.encoder.fc_layers")->domain)
            .values[1] == ParamValue{Structured{R"([{"output_size":512}])"}});
  const SearchConfig automl = Parse(File("automl_concat.yaml") + testing::kFeatures);
  CHECK(automl.space.size() == 5);
  CHECK(automl.executor.num_samples == 10);
  const SearchConfig nested = Parse(File("nested_dot_fixed.yaml") + testing::kFeatures);
  CHECK(nested.space.parameters()[0].name == ".");
}

TEST_CASE("fragments and texts that are no search file say what they lack") {
  CHECK(Contains(Errors(File("automl_base.yaml") + testing::kFeatures),
                 "nothing to search"));
  CHECK(Contains(Errors(File("executor_fragment_asha_docs.yaml")),
                 "executor: belongs under hyperopt"));
  CHECK(Contains(Errors(File("ray_cluster_launcher.yaml")),
                 "hyperopt: the section is missing"));
  CHECK(Contains(Errors(File("nested_dot_docs_INVALID.yaml")),
                 "search.yaml:4:18: not valid YAML"));
}

TEST_CASE("the file of Ludwig's Optuna example: every key has its way out") {
  const std::string errors = Errors(File("optuna_wine.yaml"));
  CHECK(Contains(errors, "executor.type: optuna is not available in this version"));
  CHECK(Contains(errors,
                 "executor.sampler: how trials are chosen is hyperopt.search_alg"));
  CHECK(Contains(
      errors,
      "executor.pruner: which trials are stopped is hyperopt.executor.scheduler"));
  CHECK(Contains(errors, "executor.storage: every sweep is recorded"));
  CHECK(Contains(errors, "metric: loss, output_feature: combined, split: validation"));
}

TEST_CASE("the spellings of Ludwig 0.4 and before, with the new ones shown") {
  const std::string errors = Errors(File("legacy_titanic_strategy_v02.yaml"));
  CHECK(
      Contains(errors, "training: a spelling of Ludwig 0.4 and before; write trainer"));
  CHECK(Contains(errors,
                 "hyperopt.strategy: a spelling of Ludwig 0.3 and before; write "
                 "search_alg: {type: grid} and executor: {num_samples: 10}"));
  CHECK(Contains(errors,
                 "executor.type: parallel is of Ludwig 0.4 and before; leave `type` "
                 "out and write max_concurrent_trials: N"));
  CHECK(Contains(errors, "write trainer.learning_rate"));
  CHECK(Contains(errors,
                 "write {space: loguniform, lower: 0.0001, upper: 0.1}, or {space: "
                 "grid_search, values: [0.0001, 0.001, 0.01, 0.1]} for a grid"));
  const auto of = [](const std::string& entry) {
    return Errors(LudwigFile() + "    trainer.x: " + entry + "\n");
  };
  CHECK(Contains(of("{type: int, low: 1, high: 4}"),
                 "write {space: int, lower: 1, upper: 4}"));
  CHECK(Contains(of("{type: category, values: [rnn, gru]}"),
                 "write {space: choice, categories: [rnn, gru]}"));
  CHECK(Contains(of("{type: float, space: uniform, lower: 0, upper: 1}"),
                 "it without `type`"));
  CHECK(Contains(of("{type: float, low: 0, high: 1, space: log}"),
                 "{space: loguniform,"));
  CHECK(Contains(
      Errors(LudwigFile(
          "  sampler: {type: ray, num_samples: 20, scheduler: {type: asha}}\n")),
      "executor: {num_samples: 20, scheduler: {type: asha, ...}}"));
  for (const char* type : {"serial", "fiber"}) {
    CHECK(
        Contains(Errors(LudwigFile("  executor: {type: " + std::string(type) + "}\n")),
                 "max_concurrent_trials"));
  }
}

TEST_CASE("bare names are led to their section") {
  const std::string space = ": {space: uniform, lower: 0, upper: 1}\n";
  CHECK(Contains(Errors(LudwigFile() + "    learning_rate" + space),
                 "learning_rate: leads nowhere; did you mean trainer.learning_rate?"));
  CHECK(Contains(Errors(LudwigFile() + "    num_fc_layers" + space),
                 "did you mean combiner.num_fc_layers?"));
  CHECK(Contains(Errors(LudwigFile() + "    traner.epochs" + space),
                 "did you mean trainer.epochs?"));
  CHECK(
      Contains(Errors(LudwigFile() + "    incme.x" + space), "did you mean income.x?"));
  CHECK(Contains(Errors(LudwigFile() + "    foo.bar" + space),
                 "neither a section of the model nor a feature"));
  CHECK(Errors(LudwigFile() + "    title.encoder.x" + space).empty());
}

TEST_CASE("metric, output feature and split go together") {
  CHECK(Parse(LudwigFile()).metric_field() == "validation.combined.loss");
  CHECK(
      Contains(Errors(LudwigFile("  metric: accuracy\n")),
               "has only the metric loss, not accuracy; write output_feature: income"));
  CHECK(Contains(Errors(LudwigFile("  output_feature: incom\n")),
                 "did you mean income?"));
  CHECK(Parse(LudwigFile("  split: test\n")).split == "test");
  const SearchConfig train = Parse(LudwigFile("  split: training\n"));
  CHECK(train.metric_field() == "train.combined.loss");
  CHECK(Has(train.notes, "training is read as train"));
  CHECK(Contains(Errors(LudwigFile("  split: vali\n")),
                 "one of train, validation, test"));
  CHECK(Contains(
      Errors(LudwigFile(
          "",
          "preprocessing: {split: {type: random, probabilities: [0.8, 0, 0.2]}}\n")),
      "hyperopt.split: validation gets no rows"));
  CHECK(Errors(LudwigFile("  split: test\n",
                          "preprocessing: {split: {probabilities: [0.8, 0, 0.2]}}\n"))
            .empty());
  CHECK(Contains(Errors(LudwigFile("  goal: max\n")), "write maximize"));
  CHECK(Has(Parse(LudwigFile("  metric: accuracy\n  output_feature: income\n")).notes,
            "better when it is larger"));
  const SearchConfig noted =
      Parse(LudwigFile("  eval_split: test\n  validation_metrics: [loss]\n"));
  CHECK(Has(noted.notes, "hyperopt.eval_split has no effect"));
  CHECK(Has(noted.notes, "hyperopt.validation_metrics has no effect"));
  CHECK(Parse(LudwigFile("  value: last\n")).value == ValueRule::kLast);
}

TEST_CASE("the features must be there") {
  const std::string rest =
      "hyperopt: {parameters: {trainer.x: {space: int, lower: 1, upper: 2}}}\n";
  CHECK(Contains(Errors(rest), "there is nothing to run: `command: [...]`"));
  CHECK(Contains(Errors("input_features: [{name: a, type: number}]\n" + rest),
                 "output_features: must be a list of at least one"));
  CHECK(Contains(
      Errors("input_features: [{type: number}, 3]\noutput_features: []\n" + rest),
      "input_features.0: has no name"));
  CHECK(Contains(Errors("input_features: [{name: a, type: number}]\noutput_features: "
                        "[{name: a, type: number}]\n" +
                        rest),
                 "search.yaml:2:26: output_features.0: another feature is called a"));
}

TEST_CASE("a misspelt section is told of alone") {
  std::string text = CommandFile();
  text.replace(text.find("command"), 7, "comand");
  std::vector<std::string> lines = ErrorsOf(text);
  REQUIRE(lines.size() == 1);
  CHECK(Contains(lines[0], "did you mean command?"));
  text = CommandFile();
  text.replace(text.find("parameters"), 10, "paramters");
  lines = ErrorsOf(text);
  REQUIRE(lines.size() == 1);
  CHECK(Contains(lines[0], "did you mean parameters?"));
}

TEST_CASE("how ranks are started belongs under backend.trainer") {
  const std::string errors = Errors(LudwigFile(
      "", "trainer: {type: ray, strategy: ddp, use_gpu: true, num_workers: 4}\n"));
  CHECK(Contains(errors, "trainer.strategy: belongs under backend.trainer"));
  CHECK(Contains(errors, "trainer.num_workers: belongs under backend.trainer"));
}

TEST_CASE("the seed is never dropped") {
  CHECK(Parse(LudwigFile("", "random_seed: 5\n")).sampler.seed == 5);
  CHECK(Parse(LudwigFile("  search_alg: {random_state: 7}\n", "random_seed: 5\n"))
            .sampler.seed == 7);
  CHECK(Contains(Parse(LudwigFile("", "random_seed: 5\n")).model, "\"random_seed\":5"));
  // An explicit gate once threw away seed, presets and constant_grid_search.
  const SearchConfig config =
      Parse(LudwigFile("  search_alg: {random_state: 7, constant_grid_search: true, "
                       "points_to_evaluate: [{trainer.learning_rate: 0.5}]}\n"
                       "  executor: {max_concurrent_trials: 2}\n"));
  CHECK(config.sampler.seed == 7);
  CHECK(config.sampler.constant_grid_search);
  CHECK(config.sampler.points_to_evaluate ==
        std::vector<Params>{{{"trainer.learning_rate", 0.5}}});
  CHECK(config.executor.max_concurrent_trials == 2);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

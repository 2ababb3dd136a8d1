// base_config: the model's keys in a file of their own.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "search/testing/config_text.h"
#include "search/testing/input_folder.h"
#include "trial/json.h"
#include "trial/merge.h"

namespace hyperopt {
namespace {

using testing::Contains;
using testing::Has;

// A folder with one base configuration, and search files that name it.
class Base {
 public:
  Base(const std::string& name, const std::string& text) : name_(name) {
    folder_.Write(name, text);
  }

  std::string Command(const std::string& parameters, const std::string& more = "") {
    return "command: [run, \"${trial.config}\"]\nbase_config: " + name_ + "\n" + more +
           "hyperopt: {metric: loss, parameters: {" + parameters + "}}\n";
  }
  SearchConfig Parse(const std::string& text) {
    return ParseConfig(text, "search.yaml", folder_.path());
  }
  std::string Errors(const std::string& text) {
    try {
      Parse(text);
    } catch (const ConfigErrors& errors) {
      return errors.what();
    }
    return "";
  }
  std::string path() const { return (folder_.path() / name_).string(); }

 private:
  testing::InputFolder folder_;
  std::string name_;
};

constexpr const char* kRate = "optimizer.lr: {space: uniform, lower: 0, upper: 1}";

TEST_SUITE_BEGIN("base_config");

TEST_CASE("a trial's configuration starts from it, under the file's own keys") {
  Base base("base.yaml",
            "name: mine\nenv: prod\noptimizer: {type: adam, lr: 1e-5}\nsize: 1\n");
  const SearchConfig config = base.Parse(base.Command(kRate, "size: 2\nmore: [1]\n"));
  CHECK(config.model ==
        R"({"name":"mine","env":"prod","optimizer":{"type":"adam","lr":1e-05},)"
        R"("size":2,"more":[1]})");
  CHECK(config.name != "mine");
  CHECK(config.env.empty());
  CHECK(MergeConfig(config.model, config.space, {{"optimizer.lr", 1e-4}}) ==
        R"({"name":"mine","env":"prod","optimizer":{"type":"adam","lr":0.0001},)"
        R"("size":2,"more":[1]})");
  // What YAML 1.1 reads as a number.
  CHECK(Contains(MergeConfig(config.model, config.space, {}), "1.0e-05"));
}

TEST_CASE("JSON with all its escapes is read as well") {
  Base base("base.json", R"({"a": "\ud83d\ude00\/\u0001", "lr": 1E-5, "b": [1, 2.0]})");
  const SearchConfig config =
      base.Parse(base.Command("lr: {space: uniform, lower: 0, upper: 1}"));
  const OrderedJson model = ParseJson(config.model);
  CHECK(model["a"] == "\xF0\x9F\x98\x80/\x01");
  CHECK(model["lr"] == 1e-5);
  CHECK(model["b"][1].is_number_float());
}

TEST_CASE("the record's file holds it whole, and reads as the same search") {
  Base base("base.yaml", "hyperopt: 3\nname: [x]\noptimizer: {lr: 0.5}\n");
  const SearchConfig config = base.Parse(base.Command(kRate));
  const SearchConfig again = testing::Parse(ResolvedJson(config));
  CHECK(again.model == config.model);
  CHECK(ComparedSettings(again) == ComparedSettings(config));
  CHECK(ResolvedJson(again) == ResolvedJson(config));
  CHECK(again.inputs.empty());
  REQUIRE(config.inputs.size() == 1);
  CHECK(config.inputs.begin()->first == base.path());
}

TEST_CASE("its faults are told at their place, with the rest") {
  Base base("base.yaml", "a: 1\nb: 2\na: 3\n");
  const std::string errors = base.Errors(base.Command(kRate, "env: 3\n"));
  CHECK(Contains(errors, base.path() + ":3:1: a: "));
  CHECK(Contains(errors, "search.yaml:3:6: env: "));
  CHECK(Contains(Base("base.yaml", "[1]").Errors(base.Command(kRate)),
                 "base.yaml:1:1: a base configuration is a map of keys, not a list"));
  CHECK(Contains(
      Base("base.json", "{,}")
          .Errors("command: [run]\nbase_config: base.json\nhyperopt: {metric: loss, "
                  "parameters: {a: {space: randn}}}\n"),
      "base.json: "));
  CHECK(Contains(Base("other.yaml", "").Errors(base.Command(kRate)),
                 "search.yaml:2:14: base_config: there is no file "));
  CHECK(Contains(base.Errors("command: [run]\nbase_config: [a]\nhyperopt: {metric: "
                             "loss, parameters: {a: {space: randn}}}\n"),
                 "search.yaml:2:14: base_config: must be the path"));
}

TEST_CASE("a name that leads to no key of it is said, with the near one") {
  Base base("base.yaml", "optimizer: {lr: 0.5}\ninput_features: [{name: f.x}]\n");
  const auto notes = [&base](const std::string& name) {
    return base.Parse(base.Command(name + ": {space: uniform, lower: 0, upper: 1}"))
        .notes;
  };
  CHECK(notes("optimizer.lr").empty());
  CHECK(notes("f.x.encoder").empty());
  CHECK(Has(notes("optimizer.rl"), "no rl there, so the value becomes a new key; did"));
  CHECK(Has(notes("optimiser.lr"), "did you mean optimizer?"));
  CHECK(Has(notes("depth"), "becomes a new key"));
}

TEST_CASE("a value cannot lead through what is no map") {
  Base base("base.yaml", "optimizer: adam\n");
  CHECK(Contains(base.Errors(base.Command(kRate)), "optimizer.lr"));
}

TEST_CASE("without a command it is the built-in trainer's model") {
  Base base("model.yaml",
            "input_features: [{name: a, type: number}]\noutput_features: [{name: b, "
            "type: binary}]\ntrainer: {epochs: 5}\nhyperopt: {goal: x}\n");
  const std::string search =
      "base_config: model.yaml\ntrainer: {optimizer: {type: sgd}}\nhyperopt:\n  "
      "parameters: {trainer.learning_rate: {space: uniform, lower: 0, upper: 1}}\n";
  const SearchConfig config = base.Parse(search);
  CHECK(ParseJson(config.model)["trainer"] ==
        ParseJson(R"({"epochs": 5, "optimizer": {"type": "sgd"}})"));
  CHECK(Has(config.notes, "base_config has a section hyperopt, which is not read"));
  const SearchConfig again = testing::Parse(ResolvedJson(config));
  CHECK(again.model == config.model);
  CHECK(ComparedSettings(again) == ComparedSettings(config));
  Base wrong("model.yaml", "input_features: [{name: a}]\ncommand: [x]\n");
  CHECK(
      Contains(wrong.Errors(search), "model.yaml:2:1: command: belongs in the search"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

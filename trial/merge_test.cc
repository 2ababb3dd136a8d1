#include "trial/merge.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "trial/errors.h"

namespace hyperopt {
namespace {

struct Value {
  std::string name;
  ParamValue value;
};

// Merges the values in the order given.
std::string Merge(const std::string& model, const std::vector<Value>& values) {
  std::vector<Parameter> parameters;
  Params params;
  for (const Value& value : values) {
    parameters.push_back({value.name, CategoricalDomain{{value.value}}});
    params[value.name] = value.value;
  }
  return MergeConfig(model, SearchSpace(std::move(parameters)), params);
}

TEST_SUITE_BEGIN("merge");

TEST_CASE("a dotted name makes the maps that lack") {
  CHECK(Merge("{}", {{"trainer.optimizer.type", "adam"}}) ==
        R"({"trainer":{"optimizer":{"type":"adam"}}})");
  CHECK(Merge(R"({"trainer":{"epochs":3}})", {{"trainer.learning_rate", 0.5}}) ==
        R"({"trainer":{"epochs":3,"learning_rate":0.5}})");
  CHECK(Merge(R"({"trainer":null})", {{"trainer.epochs", int64_t{3}}}) ==
        R"({"trainer":{"epochs":3}})");
}

TEST_CASE("a feature's name routes into the feature, inputs first") {
  const std::string model =
      R"({"input_features":[{"name":"x","type":"number"},{"name":"y"}],)"
      R"("output_features":[{"name":"y"},{"name":"z"}]})";
  CHECK(Merge(model, {{"y.encoder.layers", int64_t{2}}, {"z.weight", 1.5}}) ==
        R"({"input_features":[{"name":"x","type":"number"},)"
        R"({"name":"y","encoder":{"layers":2}}],)"
        R"("output_features":[{"name":"y"},{"name":"z","weight":1.5}]})");
}

TEST_CASE("a feature's name with dots or blanks can be addressed") {
  CHECK(Merge(R"({"input_features":[{"name":"a"},{"name":"a.b c"}]})",
              {{"a.b c.type", "number"}, {"a.type", "text"}}) ==
        R"({"input_features":[{"name":"a","type":"text"},)"
        R"({"name":"a.b c","type":"number"}]})");
}

TEST_CASE("a feature that is called as a section captures it, as in Ludwig") {
  CHECK(Merge(R"({"input_features":[{"name":"trainer"}]})", {{"trainer.lr", 1.0}}) ==
        R"({"input_features":[{"name":"trainer","lr":1.0}]})");
}

TEST_CASE("values merge in the order written and the later wins") {
  const Structured patch{R"({"trainer":{"learning_rate":0.001,"batch_size":64}})"};
  CHECK(Merge("{}", {{"trainer.learning_rate", 0.5}, {".", patch}}) ==
        R"({"trainer":{"learning_rate":0.001,"batch_size":64}})");
  CHECK(Merge("{}", {{".", patch}, {"trainer.learning_rate", 0.5}}) ==
        R"({"trainer":{"learning_rate":0.5,"batch_size":64}})");
}

TEST_CASE("a patch that brings features is there for the names after it") {
  const Structured patch{R"({"input_features":[{"name":"x"}]})"};
  CHECK(Merge("{}", {{".", patch}, {"x.type", "text"}}) ==
        R"({"input_features":[{"name":"x","type":"text"}]})");
}

TEST_CASE("maps are merged, lists and scalars replaced, null overwrites") {
  const std::string model = R"({"a":{"list":[1,2,3],"map":{"k":1},"s":5}})";
  CHECK(Merge(model,
              {{"a",
                Structured{R"({"list":[9],"map":{"l":2},"s":{"t":1},"new":null})"}}}) ==
        R"({"a":{"list":[9],"map":{"k":1,"l":2},"s":{"t":1},"new":null}})");
  CHECK(Merge(model, {{"a.map", std::monostate{}}}) ==
        R"({"a":{"list":[1,2,3],"map":null,"s":5}})");
}

TEST_CASE("floats are numbers for YAML 1.1 too, and stay what they are") {
  CHECK(Merge("{}", {{"lr", 1e-5}, {"one", 1.0}, {"n", int64_t{1}}, {"big", 1e22}}) ==
        R"({"lr":1.0e-05,"one":1.0,"n":1,"big":1.0e+22})");
  CHECK(Merge(R"({"eps":1e-8,"list":[1e-9,{"x":2e-7}]})", {}) ==
        R"({"eps":1.0e-08,"list":[1.0e-09,{"x":2.0e-07}]})");
}

TEST_CASE("types of categories stay apart") {
  CHECK(Merge("{}", {{"a", "1"}, {"b", true}, {"c", int64_t{1}}, {"d", 1.0}}) ==
        R"({"a":"1","b":true,"c":1,"d":1.0})");
}

TEST_CASE("a name that leads through a value that is no map is refused by name") {
  CHECK_THROWS_WITH_AS(
      Merge(R"({"trainer":{"optimizer":"adam"}})", {{"trainer.optimizer.type", "sgd"}}),
      doctest::Contains("parameter trainer.optimizer.type: the configuration has "
                        "\"adam\" where a map"),
      ConfigError);
  CHECK_THROWS_AS(Merge(R"({"a":[1]})", {{"a.b", 1.0}}), ConfigError);
}

TEST_CASE("a scalar can replace neither the whole nor a feature") {
  CHECK_THROWS_AS(Merge("{}", {{".", 1.0}}), ConfigError);
  CHECK_THROWS_AS(Merge(R"({"input_features":[{"name":"x"}]})", {{"x", 1.0}}),
                  ConfigError);
}

TEST_CASE("what is no map of features is left alone") {
  CHECK(Merge(R"({"input_features":"x","output_features":[1,{"name":2}]})",
              {{"x.a", 1.0}}) ==
        R"({"input_features":"x","output_features":[1,{"name":2}],"x":{"a":1.0}})");
}

TEST_CASE("parameters without a value are left out") {
  const SearchSpace space({{"a", FloatDomain{}}, {"b", FloatDomain{}}});
  CHECK(MergeConfig("{}", space, {{"b", 0.5}}) == R"({"b":0.5})");
}

TEST_CASE("what is no JSON object is refused") {
  CHECK_THROWS_AS(MergeConfig("[]", {}, {}), ConfigError);
  CHECK_THROWS_AS(MergeConfig("{", {}, {}), ConfigError);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

// `when` and constraints of a search file.
#include <doctest/doctest.h>

#include <string>

#include "search/config.h"
#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::Contains;
using testing::Errors;
using testing::Parse;

std::string File(const std::string& parameters, const std::string& more = "") {
  return "command: [run, \"${args}\"]\nhyperopt:\n  metric: loss\n  parameters:\n"
         "    optimizer: {space: choice, categories: [sgd, adam, lion]}\n"
         "    layers: {space: int, lower: 1, upper: 8}\n" +
         parameters + more;
}

std::string WithWhen(const std::string& when) {
  return File("    momentum: {space: uniform, lower: 0, upper: 1, when: " + when +
              "}\n");
}

TEST_CASE("when: the values of other parameters at which one takes part") {
  const SearchConfig config = Parse(WithWhen("{optimizer: [sgd, lion], layers: 2}"));
  const Parameter* momentum = config.space.Find("momentum");
  REQUIRE(momentum != nullptr);
  CHECK(momentum->when ==
        std::vector<Condition>{{"optimizer", {std::string("sgd"), std::string("lion")}},
                               {"layers", {int64_t{2}}}});
  const SearchConfig again = Parse(ResolvedJson(config));
  CHECK(again.space.Find("momentum")->when == momentum->when);
}

TEST_CASE("when: what is wrong has its place and a way out") {
  CHECK(Contains(Errors(WithWhen("{optimiser: [sgd]}")),
                 "search.yaml:7:59: hyperopt.parameters.momentum.when: there is no "
                 "parameter optimiser; did you mean optimizer?"));
  CHECK(Contains(Errors(WithWhen("{optimizer: [sdg]}")),
                 "optimizer never is the string \"sdg\" (one of sgd, adam, lion)"));
  CHECK(Contains(Errors(WithWhen("{optimizer: []}")), "lacks the values"));
  CHECK(Contains(Errors(WithWhen("sgd")), "must be a map of parameters to the values"));
  CHECK(
      Contains(Errors(File("    a: {space: choice, categories: [1], when: {b: 1}}\n"
                           "    b: {space: choice, categories: [1], when: {a: 1}}\n")),
               "search.yaml:7:47: hyperopt.parameters.a.when: leads in a circle"));
  CHECK(
      Contains(Errors(WithWhen("{}")),
               "hyperopt.parameters.momentum.when: must be a map of parameters to the "
               "values at which this one takes part, as in when: {optimizer: [sgd]}, "
               "not an empty one"));
  CHECK(Contains(
      Errors("command: [run, \"--momentum=${momentum}\", \"${layers}\"]\n" +
             WithWhen("{optimizer: sgd}").substr(WithWhen("{}").find("hyperopt"))),
      "command: momentum has `when`, so it is not in every trial"));
}

TEST_CASE("constraints: parsed, checked, written back") {
  const std::string width = "    width: {space: int, lower: 1, upper: 1000}\n";
  const SearchConfig config = Parse(
      File(width, "  constraints: [\"layers * width <= 400\", \"layers != 3\"]\n"));
  REQUIRE(config.space.constraints().size() == 2);
  CHECK(config.space.constraints()[0].text() == "layers * width <= 400");
  const SearchConfig again = Parse(ResolvedJson(config));
  CHECK(std::ranges::equal(again.space.constraints(), config.space.constraints()));
  CHECK(WhatAChangeMeans("hyperopt.constraints") == OnChange::kRefused);

  const auto problem = [&](const std::string& constraints) {
    return Errors(File(width, "  constraints: " + constraints + "\n"));
  };
  CHECK(Contains(problem("[\"layers * witdh < 4\"]"),
                 "search.yaml:8:17: hyperopt.constraints: there is no parameter witdh; "
                 "did you mean width?"));
  CHECK(Contains(problem("[\"layers = 4\"]"),
                 "layers = 4: at character 8: a single =: write == to compare"));
  CHECK(Contains(problem("[3]"), "must be a text such as"));
  CHECK(Contains(problem("[\"${} < 1\"]"), "${} names no parameter"));
  const std::string long_one =
      problem("[\"layers < 1 and " + std::string(3000, '(') + "\"]");
  CHECK(Contains(long_one, "hyperopt.constraints: layers < 1 and (((("));
  CHECK(Contains(long_one, "(...: "));
  CHECK(long_one.size() < 300);
  CHECK(problem("[\"layers < " + std::string(3000, 'x') + "\"]").size() < 300);
  CHECK(
      Contains(problem("[\"layers > 100\"]"),
               "the constraints leave next to nothing: they hold for 0 of 10000 draws; "
               "layers > 100 does not for 10000"));
  CHECK(Contains(problem("[\"layers < 3\"]\n  search_alg: {points_to_evaluate: "
                         "[{layers: 5}]}"),
                 "points_to_evaluate[0]: constraint layers < 3 does not hold"));
}

}  // namespace
}  // namespace hyperopt

// hyperopt.parameters: every space, its edges, and names.
#include <doctest/doctest.h>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::Contains;
using testing::Errors;
using testing::Has;
using testing::LudwigFile;
using testing::Parse;
using testing::WithSpace;

Domain DomainOf(const std::string& space) {
  return Parse(WithSpace(space)).space.Find("p")->domain;
}

std::string Problem(const std::string& space) { return Errors(WithSpace(space)); }

std::string WithNames(const std::string& names) {
  return "command: [run]\nhyperopt: {metric: loss, parameters: {" + names + "}}\n";
}

TEST_SUITE_BEGIN("config space");

TEST_CASE("every space of Ludwig's, with its edges mended") {
  CHECK(DomainOf("{space: uniform, lower: 0, upper: 1.5}") ==
        Domain{FloatDomain{0, 1.5, false, {}}});
  CHECK(DomainOf("{space: quniform, lower: 0, upper: 1, q: 0.1}") ==
        Domain{FloatDomain{0, 1, false, 0.1}});
  CHECK(DomainOf("{space: loguniform, lower: 1e-5, upper: 1e-1}") ==
        Domain{FloatDomain{1e-5, 0.1, true, {}}});
  CHECK(DomainOf("{space: qloguniform, lower: 1, upper: 10, q: 0.5}") ==
        Domain{FloatDomain{1, 10, true, 0.5}});
  CHECK(DomainOf("{space: randn}") == Domain{NormalDomain{0, 1, {}}});
  CHECK(DomainOf("{space: randn, mean: 3, sd: 2}") == Domain{NormalDomain{3, 2, {}}});
  CHECK(DomainOf("{space: qrandn, mean: 3, sd: 2, q: 0.5}") ==
        Domain{NormalDomain{3, 2, 0.5}});
  CHECK(DomainOf("{space: choice, categories: [a, b]}") ==
        Domain{CategoricalDomain{{"a", "b"}}});
  CHECK(DomainOf("{space: grid_search, values: [1, 2]}") ==
        Domain{GridDomain{{int64_t{1}, int64_t{2}}}});
}

TEST_CASE("whole numbers: upper excluded where Ludwig's users expect it") {
  CHECK(DomainOf("{space: randint, lower: 1, upper: 4}") ==
        Domain{IntDomain{1, 3, false, 1}});
  CHECK(DomainOf("{space: lograndint, lower: 1, upper: 100}") ==
        Domain{IntDomain{1, 99, true, 1}});
  CHECK(DomainOf("{space: qrandint, lower: 0, upper: 10, q: 5}") ==
        Domain{IntDomain{0, 10, false, 5}});
  CHECK(DomainOf("{space: qrandint, lower: 0, upper: 10}") ==
        Domain{IntDomain{0, 10, false, 1}});
  CHECK(DomainOf("{space: qlograndint, lower: 8, upper: 64, q: 8}") ==
        Domain{IntDomain{8, 64, true, 8}});
  CHECK(DomainOf("{space: randint, lower: 3, upper: 4}") ==
        Domain{IntDomain{3, 3, false, 1}});
  CHECK(DomainOf("{space: randint, lower: 1.0, upper: 4.0}") ==
        Domain{IntDomain{1, 3, false, 1}});
}

TEST_CASE("the plain spaces, both ends included") {
  CHECK(DomainOf("{space: int, lower: 1, upper: 6}") ==
        Domain{IntDomain{1, 6, false, 1}});
  CHECK(DomainOf("{space: int, lower: 1, upper: 7, step: 2, log: true}") ==
        Domain{IntDomain{1, 7, true, 2}});
  CHECK(DomainOf("{space: float, lower: 0, upper: 1, step: 0.25}") ==
        Domain{FloatDomain{0, 1, false, 0.25}});
  CHECK(DomainOf("{space: float, lower: 1, upper: 10, log: true}") ==
        Domain{FloatDomain{1, 10, true, {}}});
}

TEST_CASE("categories are any YAML value and keep their types") {
  CHECK(
      DomainOf(
          "{space: choice, categories: [1, 1.0, true, \"1\", null, [1, 2], {a: b}]}") ==
      Domain{CategoricalDomain{{int64_t{1},
                                1.0,
                                true,
                                "1",
                                std::monostate{},
                                Structured{"[1,2]"},
                                Structured{R"({"a":"b"})"}}}});
  CHECK(Contains(Problem("{space: choice, categories: [1, 2, 1]}"),
                 "1 is in the list twice"));
  CHECK(Contains(Problem("{space: grid_search, values: [a, 'a']}"),
                 "\"a\" is in the list twice"));
  CHECK(Contains(Problem("{space: choice, categories: []}"),
                 "the list of values is empty"));
  CHECK(Contains(Problem("{space: choice, categories: [1, .nan]}"),
                 "p.categories.1: NaN and infinities"));
  CHECK(Contains(Problem("{space: choice, categories: [{a: .inf}]}"), "NaN and inf"));
  CHECK(Contains(Problem("{space: choice, categories: 3}"),
                 "must be a list of values, not 3"));
}

TEST_CASE("choice with values and grid_search with categories: the way out") {
  CHECK(Contains(Problem("{space: choice, values: [1, 2]}"),
                 "p.values: this space lists its values under `categories`"));
  CHECK(Contains(Problem("{space: grid_search, categories: [1, 2]}"),
                 "p.categories: this space lists its values under `values`"));
  CHECK(Contains(Problem("{space: choice}"), "p.categories: is missing"));
}

TEST_CASE("ranges that are none") {
  CHECK(Contains(Problem("{space: uniform, lower: 3, upper: 1}"),
                 "p.upper: lower must be below upper; they are 3 and 1"));
  CHECK(
      Contains(Problem("{space: uniform, lower: 1, upper: 1}"), "lower must be below"));
  CHECK(
      Contains(Problem("{space: randint, lower: 1, upper: 1}"), "lower must be below"));
  CHECK(Contains(Problem("{space: int, lower: 2, upper: 2}"), "lower must be below"));
  CHECK(
      Contains(Problem("{space: loguniform, lower: 0, upper: 1}"), "must be above 0"));
  CHECK(
      Contains(Problem("{space: lograndint, lower: -1, upper: 5}"), "must be above 0"));
  CHECK(Contains(Problem("{space: int, log: true, lower: 0, upper: 5}"),
                 "must be above 0"));
  CHECK(Contains(Problem("{space: uniform, lower: 1}"), "p.upper: is missing"));
  CHECK(
      Contains(Problem("{space: uniform, lower: .nan, upper: 1}"), "a finite number"));
  CHECK(
      Contains(Problem("{space: uniform, lower: 0, upper: .inf}"), "a finite number"));
  CHECK(Contains(Problem("{space: randint, lower: 1.5, upper: 3}"), "a whole number"));
  CHECK(Contains(Problem("{space: uniform, lower: '1e-5', upper: 1}"),
                 "the string \"1e-5\""));
  CHECK(Contains(Problem("{space: randn, sd: 0}"), "must be finite and above 0"));
  CHECK_FALSE(Problem("{space: uniform, lower: -1e308, upper: 1e308, q: 1}").empty());
}

TEST_CASE("a step that does not reach upper: the nearest that do") {
  CHECK(
      Contains(Problem("{space: quniform, lower: 0, upper: 1, q: 0.3}"),
               "q does not fit: from 0 in steps of 0.3 upper (1) is never reached; the "
               "nearest that fit are 0.9 and 1.2"));
  CHECK(Contains(Problem("{space: qrandint, lower: 0, upper: 10, q: 3}"),
                 "the nearest that fit are 9 and 12"));
  CHECK(Contains(Problem("{space: float, lower: 0, upper: 1, step: 0.4}"),
                 "step does not fit"));
  CHECK(Contains(Problem("{space: quniform, lower: 0, upper: 1}"), "p.q: is missing"));
  CHECK(Contains(Problem("{space: quniform, lower: 0, upper: 1, q: 0}"), "above 0"));
  CHECK(Contains(Problem("{space: qrandint, lower: 0, upper: 4, q: -2}"), "above 0"));
  CHECK(Problem("{space: quniform, lower: 0.1, upper: 1000.1, q: 0.1}").empty());
  CHECK(Problem("{space: quniform, lower: 0, upper: 1e7, q: 0.1}").empty());
}

TEST_CASE("a space that is not there") {
  CHECK(Contains(Problem("{space: qunifrom, lower: 0, upper: 1}"),
                 "did you mean quniform?"));
  CHECK(Contains(Problem("{space: banana}"), "there are uniform, quniform"));
  CHECK(Contains(Problem("{space: sample_from}"), "needs a function"));
  CHECK(Contains(Problem("{lower: 0, upper: 1}"), "p.space: is missing"));
  CHECK(Contains(Problem("[1, 2]"), "{space: choice, categories: [...]}"));
  CHECK(Contains(Problem("3"), "must be a space, not 3"));
  CHECK(
      Contains(Problem("{space: uniform, lower: 0, uper: 1}"), "did you mean upper?"));
  CHECK(Contains(Problem("{space: uniform, lower: 0, upper: 1, q: 1}"),
                 "p.q: unknown key"));
}

TEST_CASE("base has no effect, and that is said") {
  const SearchConfig config =
      Parse(WithSpace("{space: loguniform, lower: 1, upper: 8, base: 2}"));
  CHECK(Has(config.notes, "hyperopt.parameters.p.base has no effect"));
}

TEST_CASE("the order written is kept") {
  const SearchConfig config = Parse(WithNames(
      "z: {space: int, lower: 1, upper: 2}, a: {space: int, lower: 1, upper: 2}"));
  REQUIRE(config.space.size() == 2);
  CHECK(config.space.parameters()[0].name == "z");
}

TEST_CASE("names that a command could not tell apart or reach") {
  const std::string space = ": {space: int, lower: 1, upper: 2}";
  for (const char* name : {"trial.x",
                           "sweep.x",
                           "config.x",
                           "env.X",
                           "args",
                           "'a=b'",
                           "'a}'",
                           "' a'",
                           "''",
                           "a..b",
                           ".a",
                           "a."}) {
    CAPTURE(std::string(name));
    CHECK(Contains(Errors(WithNames(name + space)), "hyperopt.parameters."));
  }
  CHECK(Contains(Errors(WithNames("a.b" + space + ", a_b" + space)),
                 "a.b and a_b would both be $HYPEROPT_PARAM_A_B"));
  CHECK(
      Contains(Errors(WithNames("lr" + space + ", LR" + space)), "HYPEROPT_PARAM_LR"));
  CHECK(Errors(WithNames("trial" + space + ", 'fixed acidity.x'" + space)).empty());
  CHECK(Contains(Errors(WithNames("a" + space + ", a.b" + space)),
                 "parameter a.b: the configuration has"));
}

TEST_CASE("arg: renames a parameter in ${args}, null leaves it out") {
  const std::string file =
      "command: [run, \"${args}\"]\nhyperopt: {metric: loss, parameters: {"
      "a: {space: int, lower: 1, upper: 2, arg: x}, "
      "b: {space: int, lower: 1, upper: 2, arg: null}, "
      "c: {space: int, lower: 1, upper: 2}}}\n";
  const SearchConfig config = Parse(file);
  CHECK(config.arg_names.size() == 2);
  CHECK(config.arg_names.at("a") == "x");
  CHECK_FALSE(config.arg_names.at("b").has_value());
  const std::string with = "{space: int, lower: 1, upper: 2, arg: ";
  CHECK(Contains(Problem(with + "--lr}"), "without dashes"));
  CHECK(Contains(Problem(with + "[a]}"), "p.arg: must be the name"));
  CHECK(Contains(Errors(WithNames("p: " + with + "x}")),
                 "the command has no word ${args}"));
  CHECK(Contains(
      Errors("command: [run, \"${args}\"]\nhyperopt: {metric: loss, parameters: {"
             "a: {space: int, lower: 1, upper: 2, arg: b}, "
             "b: {space: int, lower: 1, upper: 2}}}\n"),
      "a and b would both be --b"));
  CHECK(Contains(Errors(LudwigFile() + "    trainer.epochs: " + with + "x}\n"),
                 "has an effect only with `command`"));
}

TEST_CASE("nothing to search") {
  for (const char* parameters : {"{}", "null", "[a]"}) {
    CAPTURE(std::string(parameters));
    CHECK(Contains(Errors("command: [run]\nhyperopt: {metric: loss, parameters: " +
                          std::string(parameters) + "}\n"),
                   "hyperopt.parameters: "));
  }
  CHECK(Contains(Errors("command: [run]\nhyperopt: {metric: loss}\n"),
                 "nothing to search"));
}

TEST_CASE("the patch of the whole is a choice among maps") {
  const std::string start = LudwigFile() + "    \".\": ";
  const SearchConfig config =
      Parse(start + "{space: choice, categories: [{combiner: {type: concat}}, {}]}\n");
  CHECK(config.space.parameters()[1].name == ".");
  CHECK(Contains(Errors(start + "{space: choice, categories: [{a: 1}, 2]}\n"),
                 "each value of \".\" is a map of model keys, not 2"));
  CHECK(Contains(Errors(start + "{space: uniform, lower: 0, upper: 1}\n"),
                 "its space is choice"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

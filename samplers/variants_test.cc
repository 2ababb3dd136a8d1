// Grid and random: which trial gets which values.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "samplers/sampler.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

GridDomain Grid(std::initializer_list<int64_t> values) {
  GridDomain domain;
  for (int64_t value : values) domain.values.emplace_back(value);
  return domain;
}

std::vector<Params> All(const SearchSpace& space, const SamplerOptions& options) {
  const auto sampler = MakeSampler(space, options);
  std::vector<Params> trials;
  for (int64_t i = 0; i < sampler->TrialCount().value(); ++i) {
    trials.push_back(sampler->Suggest(TrialId(i), {}).value());
  }
  CHECK_FALSE(sampler->Suggest(TrialId(std::ssize(trials)), {}).has_value());
  return trials;
}

std::vector<std::string> Texts(const std::vector<Params>& trials) {
  std::vector<std::string> texts;
  for (const Params& params : trials) texts.push_back(ToJsonText(params));
  return texts;
}

std::string ProblemText(const SearchSpace& space, const SamplerOptions& options) {
  try {
    MakeSampler(space, options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("variants: the first parameter by name varies fastest, once a sample") {
  // Written in the other order: the order of merging is not that of the grid.
  const SearchSpace space({{"b", Grid({10, 20, 30})}, {"a", Grid({1, 2})}});
  const std::vector<std::string> once = {R"({"a":1,"b":10})",
                                         R"({"a":2,"b":10})",
                                         R"({"a":1,"b":20})",
                                         R"({"a":2,"b":20})",
                                         R"({"a":1,"b":30})",
                                         R"({"a":2,"b":30})"};
  CHECK(Texts(All(space, {.num_samples = 1})) == once);
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  CHECK(Texts(All(space, {.num_samples = 2})) == twice);
}

TEST_CASE("variants: random values are drawn anew for each cell") {
  const SearchSpace space({{"g", Grid({1, 2, 3})}, {"x", FloatDomain{}}});
  const auto trials = All(space, {.num_samples = 4});
  REQUIRE(trials.size() == 12);
  std::set<ParamValue> values;
  for (const Params& params : trials) values.insert(params.at("x"));
  CHECK(values.size() == 12);
}

TEST_CASE("variants: constant_grid_search keeps a sample's random values") {
  const SearchSpace space({{"g", Grid({1, 2, 3})}, {"x", FloatDomain{}}});
  const auto trials = All(space, {.num_samples = 4, .constant_grid_search = true});
  REQUIRE(trials.size() == 12);
  std::map<ParamValue, std::set<ParamValue>> cells;
  for (const Params& params : trials) cells[params.at("x")].insert(params.at("g"));
  CHECK(cells.size() == 4);
  for (const auto& [x, gs] : cells) CHECK(gs.size() == 3);
}

TEST_CASE("variants: points come first and take one sample each, times open cells") {
  const SearchSpace space({{"g", Grid({1, 2})}, {"x", FloatDomain{}}});
  const SamplerOptions options{
      .num_samples = 3,
      .points_to_evaluate = {{{"x", 0.5}}, {{"g", int64_t{2}}, {"x", int64_t{1}}}}};
  const auto trials = All(space, options);
  REQUIRE(trials.size() == 2 + 1 + 2);
  CHECK(ToJsonText(trials[0]) == R"({"g":1,"x":0.5})");
  CHECK(ToJsonText(trials[1]) == R"({"g":2,"x":0.5})");
  CHECK(ToJsonText(trials[2]) == R"({"g":2,"x":1.0})");  // an integer became a float
  CHECK(trials[3].at("g") == ParamValue(int64_t{1}));
  CHECK(trials[4].at("g") == ParamValue(int64_t{2}));
}

TEST_CASE("variants: a partial point's other parameters are drawn") {
  const SearchSpace space({{"x", FloatDomain{}}, {"y", FloatDomain{}}});
  const auto plain = All(space, {.num_samples = 2});
  const auto pointed =
      All(space, {.num_samples = 2, .points_to_evaluate = {{{"x", 0.25}}}});
  CHECK(pointed[0].at("x") == ParamValue(0.25));
  CHECK(pointed[0].at("y") == plain[0].at("y"));
  CHECK(pointed[1] == plain[1]);
}

TEST_CASE("variants: another parameter changes no value of the others") {
  const SearchSpace small({{"x", FloatDomain{}}, {"y", IntDomain{.upper = 1000}}});
  const SearchSpace large(
      {{"a", NormalDomain{}}, {"y", IntDomain{.upper = 1000}}, {"x", FloatDomain{}}});
  const auto few = All(small, {.num_samples = 20});
  const auto more = All(large, {.num_samples = 20});
  for (size_t i = 0; i < few.size(); ++i) {
    CHECK(few[i].at("x") == more[i].at("x"));
    CHECK(few[i].at("y") == more[i].at("y"));
  }
}

TEST_CASE("variants: more samples leave the trials before them as they were") {
  const SearchSpace space({{"g", Grid({1, 2})}, {"x", FloatDomain{}}});
  const auto few = All(space, {.num_samples = 3});
  const auto more = All(space, {.num_samples = 8});
  REQUIRE(more.size() > few.size());
  for (size_t i = 0; i < few.size(); ++i) CHECK(few[i] == more[i]);
}

TEST_CASE("variants: kind grid runs through every finite domain, never twice") {
  // Optuna's grid sampler hands out cells twice; here a cell belongs to one trial
  // number.
  const SearchSpace space({{"f", FloatDomain{.lower = 0.1, .upper = 0.3, .step = 0.1}},
                           {"i", IntDomain{.lower = 1, .upper = 2}},
                           {"c", CategoricalDomain{{true, std::string("x")}}},
                           {"g", Grid({7, 8})}});
  const SamplerOptions options{.kind = SamplerKind::kGrid, .num_samples = 1};
  const auto trials = All(space, options);
  const auto texts = Texts(trials);
  CHECK(trials.size() == 3 * 2 * 2 * 2);
  CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == trials.size());
  CHECK(texts[0] == R"({"c":true,"f":0.1,"g":7,"i":1})");
  CHECK(texts[4] == R"({"c":true,"f":0.3,"g":7,"i":1})");
}

TEST_CASE("variants: a grid over a wide range counts without listing") {
  const SearchSpace space({{"i", IntDomain{.lower = 1, .upper = 2000000000}}});
  const auto sampler =
      MakeSampler(space, {.kind = SamplerKind::kGrid, .num_samples = 1});
  CHECK(sampler->TrialCount() == 2000000000);
  CHECK(sampler->Suggest(TrialId(1999999999), {})->at("i") ==
        ParamValue(int64_t{2000000000}));
  CHECK_FALSE(sampler->Suggest(TrialId(2000000000), {}).has_value());
  CHECK_FALSE(sampler->Suggest(TrialId(-1), {}).has_value());
}

TEST_CASE("variants: what does not go together is refused, all at once") {
  const SearchSpace space(
      {{"rate", FloatDomain{.lower = 0, .upper = 1}}, {"units", Grid({32, 64})}});
  const std::string text = ProblemText(
      space,
      {.num_samples = 2,
       .points_to_evaluate = {
           {{"rate", 0.5}}, {{"rate", 5.0}, {"units", int64_t{33}}}, {{"rat", 0.5}}}});
  CHECK(text ==
        "points_to_evaluate[1].rate: 5.0 is not in its space (uniform 0.0 .. 1.0)\n"
        "points_to_evaluate[1].units: 33 is not in its space (each of 32, 64)\n"
        "points_to_evaluate[2].rat: no such parameter; did you mean rate?\n"
        "points_to_evaluate has 3 points, and each takes one of num_samples (2)");
  CHECK(ProblemText(space, {.num_samples = 0}).starts_with("num_samples (0)"));
  CHECK(ProblemText(space, {.kind = SamplerKind::kGrid})
            .starts_with("rate: a grid can not run through uniform 0.0 .. 1.0"));
}

TEST_CASE("variants: a count that no sweep can run is refused, not wrapped around") {
  const SearchSpace space({{"a", IntDomain{.upper = int64_t{1} << 40}},
                           {"b", IntDomain{.upper = int64_t{1} << 40}}});
  const SamplerOptions grid{.kind = SamplerKind::kGrid, .num_samples = 1};
  CHECK(ProblemText(space, grid).starts_with("more than 2147483648 trials"));
  CHECK(ProblemText(SearchSpace(), {.num_samples = (int64_t{1} << 31) + 1})
            .starts_with("more than 2147483648 trials"));
  CHECK(ProblemText(SearchSpace(), {.num_samples = int64_t{1} << 31}) == "none");
  // One point takes the one sample, so nothing runs through the 2^80 cells.
  const Params point = {{"a", int64_t{5}}, {"b", int64_t{6}}};
  const auto trials = All(
      space,
      {.kind = SamplerKind::kGrid, .num_samples = 1, .points_to_evaluate = {point}});
  CHECK(trials == std::vector<Params>{point});
}

TEST_CASE("variants: the seed decides") {
  const SearchSpace space({{"x", FloatDomain{}}});
  const auto a = All(space, {.seed = 1, .num_samples = 10});
  const auto b = All(space, {.seed = 2, .num_samples = 10});
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] != b[i]);
}

}  // namespace
}  // namespace hyperopt

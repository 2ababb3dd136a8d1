// Densities against numeric integration.
#include "samplers/internal/parzen.h"

#include <doctest/doctest.h>

#include <cmath>

namespace hyperopt::internal {
namespace {

const std::vector<double> kWeights = {1.5, 0.5, 1};

TEST_CASE("a continuous axis: the density integrates to 1, also at the borders") {
  const Encoding encoding(SearchSpace({{"x", FloatDomain{}}}));
  const ParzenMixture mixture(encoding, {{0.0}, {0.3}, {0.99}}, kWeights, 1);
  double sum = 0;
  const int steps = 20000;
  for (int i = 0; i < steps; ++i) {
    sum += std::exp(mixture.LogDensity(Row{(i + 0.5) / steps})) / steps;
  }
  CHECK(sum == doctest::Approx(1).epsilon(1e-6));
}

TEST_CASE("ordered and categorical axes: the probabilities add up to 1") {
  const SearchSpace space(
      {{"k", IntDomain{.lower = 1, .upper = 40, .log = true}},
       {"c",
        CategoricalDomain{{std::string("a"), std::string("b"), std::string("c")}}}});
  const Encoding encoding(space);
  const Axis& axis = encoding.axes()[0];
  REQUIRE(axis.kind == AxisKind::kOrdered);
  const ParzenMixture mixture(
      encoding,
      {{axis.MiddleOf(0), 0}, {axis.MiddleOf(20), 2}, {axis.MiddleOf(39), 2}},
      kWeights,
      1);
  double sum = 0;
  for (int64_t k = 0; k < axis.levels; ++k) {
    for (double c : {0.0, 1.0, 2.0}) {
      sum += std::exp(mixture.LogDensity(Row{axis.MiddleOf(k), c}));
    }
  }
  CHECK(sum == doctest::Approx(1).epsilon(1e-9));
}

TEST_CASE("draws follow the density") {
  const SearchSpace space(
      {{"x", FloatDomain{}}, {"k", IntDomain{.lower = 1, .upper = 3}}});
  const Encoding encoding(space);
  const auto& axis = encoding.axes()[1];
  const ParzenMixture mixture(
      encoding, {{0.1, axis.MiddleOf(2)}, {0.2, axis.MiddleOf(2)}}, {1, 1}, 1);
  // The mass of x < 0.5 with k = 3, by integration and by drawing.
  double mass = 0;
  const int steps = 4000;
  for (int i = 0; i < steps; ++i) {
    const Row row{0.5 * (i + 0.5) / steps, axis.MiddleOf(2)};
    mass += std::exp(mixture.LogDensity(row)) * 0.5 / steps;
  }
  Rng rng(5, TrialId(0), "draws");
  const int draws = 20000;
  int inside = 0;
  for (int i = 0; i < draws; ++i) {
    const Row row = mixture.Draw(rng);
    if (row[0] < 0.5 && axis.LevelOf(row[1]) == 2) ++inside;
  }
  CHECK(std::fabs(inside / static_cast<double>(draws) - mass) < 0.015);
}

TEST_CASE("far from everything the density is that of the uniform component") {
  const Encoding encoding(SearchSpace({{"x", FloatDomain{}}, {"y", FloatDomain{}}}));
  std::vector<Row> rows(200, Row{0.001, 0.001});
  const ParzenMixture mixture(encoding, rows, std::vector<double>(200, 1), 1);
  CHECK(mixture.LogDensity(Row{0.999, 0.999}) ==
        doctest::Approx(std::log(1 / 201.0)).epsilon(0.01));
}

TEST_CASE("the better of two good rows weighs more") {
  const Encoding encoding(SearchSpace({{"x", FloatDomain{}}}));
  const ParzenMixture good = MixtureOfGood(encoding, {{0.1}, {0.9}});
  CHECK(good.LogDensity(std::vector<double>{0.1}) >
        good.LogDensity(std::vector<double>{0.9}) + 0.1);
  CHECK(GoodCount(0) == 0);
  CHECK(GoodCount(1) == 1);
  CHECK(GoodCount(100) == 8);
  CHECK(GoodCount(1000000) == 40);
}

}  // namespace
}  // namespace hyperopt::internal

// What a row is expected to add to a front: gradients against differences, trials that
// run, rows that the front dominates.
#include "samplers/internal/front_model.h"

#include <doctest/doctest.h>

#include <cmath>

#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

// Two numbers and a category.
SearchSpace Space() {
  return SearchSpace({{"a", FloatDomain{}},
                      {"b", FloatDomain{}},
                      {"c", CategoricalDomain{{int64_t{0}, int64_t{1}, int64_t{2}}}}});
}

// The first objective is least at a = 0, the others at a = 1; b off 0.5 only costs.
FrontData DataOf(size_t objectives, size_t count) {
  Rng rng(1, TrialId(0), "test");
  FrontData data;
  data.y.resize(objectives);
  for (size_t k = 0; k < count; ++k) {
    const double a = rng.Uniform(), b = rng.Uniform();
    const auto c = static_cast<double>(rng.Below(3));
    data.rows.push_back({a, b, c});
    const double cost = 4 * (b - 0.5) * (b - 0.5) + 0.3 * c;
    for (size_t i = 0; i < objectives; ++i) {
      const double power = 1 + 0.5 * static_cast<double>(i);
      data.y[i].push_back((i == 0 ? a : std::pow(1 - a, power)) + cost - 0.7);
    }
  }
  return data;
}

std::vector<Vector> Thetas(size_t objectives) {
  Vector theta(5);
  theta << std::log(0.6), std::log(0.5), std::log(1.5), 0, std::log(1e-4);
  return std::vector<Vector>(objectives, theta);
}

TEST_CASE("front model: the reference point is beyond the front, never on it") {
  const std::vector<Point> front = {{0, 3}, {1, 2}, {4, 0}};
  const Point reference = ReferenceOf(front);
  CHECK(reference[0] == doctest::Approx(4.4));
  CHECK(reference[1] == doctest::Approx(3.3));
  const std::vector<Point> alone = {{-1, 2}};
  CHECK(ReferenceOf(alone)[0] == doctest::Approx(-0.9));
  CHECK(ReferenceOf(alone)[1] == doctest::Approx(2.1));
}

TEST_CASE("front model: gradients are those of differences") {
  const SearchSpace space = Space();
  const Encoding encoding(space);
  Rng rng(2, TrialId(0), "test");
  for (const size_t objectives : {2, 3}) {
    const FrontModel model(encoding, DataOf(objectives, 25), {}, Thetas(objectives));
    for (int k = 0; k < 20; ++k) {
      const Row row = {0.05 + 0.9 * rng.Uniform(),
                       0.05 + 0.9 * rng.Uniform(),
                       static_cast<double>(rng.Below(3))};
      Vector gradient;
      const double value = model.One(row, gradient);
      CHECK(model.Many(std::vector<Row>{row})[0] == doctest::Approx(value));
      CHECK(gradient[2] == 0);
      for (size_t j = 0; j < 2; ++j) {
        constexpr double kStep = 1e-6;
        std::vector<Row> both = {row, row};
        both[0][j] -= kStep;
        both[1][j] += kStep;
        const std::vector<double> values = model.Many(both);
        const double slope = (values[1] - values[0]) / (2 * kStep);
        CAPTURE(objectives);
        CAPTURE(k);
        CHECK(gradient[static_cast<Eigen::Index>(j)] ==
              doctest::Approx(slope).epsilon(1e-3).scale(1));
      }
    }
  }
}

TEST_CASE("front model: what the front dominates is expected to gain less") {
  const SearchSpace space = Space();
  const Encoding encoding(space);
  const FrontModel model(encoding, DataOf(2, 25), {}, Thetas(2));
  for (const double a : {0.1, 0.4, 0.6, 0.9}) {
    // Off the best b, or with a worse category, every objective is worse.
    const std::vector<double> gains = model.Many(
        std::vector<Row>{{a, 0.5, 0.0}, {a, 0.75, 0.0}, {a, 1.0, 0.0}, {a, 0.5, 2.0}});
    CAPTURE(a);
    for (size_t k = 1; k < gains.size(); ++k) CHECK(gains[0] > gains[k] + 1);
  }
}

TEST_CASE("front model: where a trial runs there is less left to gain") {
  const SearchSpace space = Space();
  const Encoding encoding(space);
  const Row open = {0.45, 0.5, 0};
  const FrontData data = DataOf(2, 12);
  const FrontModel before(encoding, data, {}, Thetas(2));
  const FrontModel after(encoding, data, std::vector<Row>{open}, Thetas(2));
  const std::vector<Row> rows = {open, {0.47, 0.52, 0}};
  for (size_t k = 0; k < rows.size(); ++k) {
    CHECK(after.Many(rows)[k] < before.Many(rows)[k] - 0.5);
  }
}

}  // namespace
}  // namespace hyperopt::internal

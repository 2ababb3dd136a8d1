// Gradients against finite differences, known values, degenerate inputs.
#include "samplers/internal/gp.h"

#include <doctest/doctest.h>

#include <cmath>

#include "samplers/internal/acquisition.h"
#include "samplers/internal/gp_fit.h"
#include "samplers/internal/gp_parts.h"
#include "samplers/internal/minimise.h"
#include "samplers/internal/optimise_mixed.h"
#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

SearchSpace Mixed() {
  return SearchSpace(
      {{"x", FloatDomain{}},
       {"y", FloatDomain{}},
       {"k", IntDomain{.lower = 1, .upper = 9}},
       {"c",
        CategoricalDomain{{std::string("a"), std::string("b"), std::string("c")}}}});
}

struct Sample {
  Encoding encoding{Mixed()};
  std::vector<Row> rows;
  std::vector<double> y;
  Vector theta;

  explicit Sample(int n = 15) {
    Rng rng(3, TrialId(0), "gp");
    for (int i = 0; i < n; ++i) {
      std::vector<double> cube(encoding.size());
      for (double& u : cube) u = rng.Uniform();
      rows.push_back(encoding.FromCube(cube));
      y.push_back(std::sin(5 * rows.back()[0]) + rows.back()[1] * rows.back()[3] +
                  0.1 * rng.Normal());
    }
    theta.resize(6);
    theta << std::log(0.4), std::log(0.7), std::log(1.1), std::log(1.5), 0.2,
        std::log(0.02);
  }
};

TEST_CASE("the likelihood's gradient is that of finite differences") {
  const Sample sample;
  const GpLikelihood likelihood(sample.encoding, sample.rows, sample.y);
  Vector gradient;
  REQUIRE(std::isfinite(likelihood.At(sample.theta, &gradient)));
  for (Eigen::Index j = 0; j < sample.theta.size(); ++j) {
    CAPTURE(j);
    const double h = 1e-5;
    Vector up = sample.theta, down = sample.theta;
    up[j] += h;
    down[j] -= h;
    const double slope = (likelihood.At(up) - likelihood.At(down)) / (2 * h);
    CHECK(gradient[j] == doctest::Approx(slope).epsilon(1e-4));
  }
}

TEST_CASE("a prediction's gradient is that of finite differences") {
  const Sample sample;
  const GpModel model(sample.encoding, sample.rows, sample.y, sample.theta);
  const Row at = {0.31, 0.62, sample.rows[0][2], 1};
  double mean = 0, variance = 0;
  Vector by_mean, by_variance;
  model.Predict(at, &mean, &variance, &by_mean, &by_variance);
  Vector means, variances;
  model.Predict(std::vector<Row>{at}, &means, &variances);
  CHECK(means[0] == doctest::Approx(mean));
  CHECK(variances[0] == doctest::Approx(variance));
  for (size_t j : {0, 1}) {
    const double h = 1e-6;
    Row up = at, down = at;
    up[j] += h;
    down[j] -= h;
    model.Predict(std::vector<Row>{up, down}, &means, &variances);
    const auto k = static_cast<Eigen::Index>(j);
    CHECK(by_mean[k] == doctest::Approx((means[0] - means[1]) / (2 * h)).epsilon(1e-4));
    CHECK(by_variance[k] ==
          doctest::Approx((variances[0] - variances[1]) / (2 * h)).epsilon(1e-3));
  }
  CHECK(by_mean[3] == 0);
}

TEST_CASE("without noise a model meets its points, and is unsure away from them") {
  Sample sample;
  sample.theta[5] = std::log(1e-9);
  const GpModel model(sample.encoding, sample.rows, sample.y, sample.theta);
  Vector means, variances;
  model.Predict(sample.rows, &means, &variances);
  for (size_t i = 0; i < sample.y.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    CHECK(means[k] == doctest::Approx(sample.y[i]).epsilon(1e-3));
    CHECK(variances[k] < 1e-4);
    CHECK(variances[k] > 0);
  }
}

TEST_CASE("believing keeps the mean and takes the doubt away") {
  const Sample sample;
  GpModel model(sample.encoding, sample.rows, sample.y, sample.theta);
  const std::vector<Row> at = {{0.9, 0.1, sample.rows[0][2], 2}};
  Vector mean, variance, mean_after, variance_after;
  model.Predict(at, &mean, &variance);
  model.Believe(at[0]);
  model.Predict(at, &mean_after, &variance_after);
  CHECK(mean_after[0] == doctest::Approx(mean[0]).epsilon(1e-6));
  CHECK(variance_after[0] < 0.2 * variance[0]);
}

TEST_CASE("points that repeat can be factored") {
  Sample sample;
  std::vector<Row> rows(30, sample.rows[0]);
  std::vector<double> y(30, 0.5);
  y[3] = -2;
  sample.theta[5] = std::log(1e-12);
  const GpModel model(sample.encoding, rows, y, sample.theta);
  Vector means, variances;
  model.Predict(sample.rows, &means, &variances);
  for (Eigen::Index i = 0; i < means.size(); ++i) {
    CHECK(std::isfinite(means[i]));
    CHECK(variances[i] > 0);
  }
}

TEST_CASE("log h is that of a numeric integral, and finite far out") {
  for (double z : {-6.0, -2.0, -1.0, -0.5, 0.0, 1.0, 3.0}) {
    CAPTURE(z);
    // h(z) is the integral of the cumulative distribution up to z.
    double h = 0;
    const int steps = 200000;
    for (int i = 0; i < steps; ++i) {
      h += NormalCdf(z - 12 + 12 * (i + 0.5) / steps) * 12 / steps;
    }
    CHECK(LogH(z) == doctest::Approx(std::log(h)).epsilon(1e-5));
  }
  double before = LogH(-1);
  for (double z = -1.5; z > -1e8; z *= 1.5) {
    const double now = LogH(z);
    REQUIRE(std::isfinite(now));
    CHECK(now < before);
    before = now;
  }
}

TEST_CASE("the improvement's derivatives are those of finite differences") {
  for (double mean : {-0.5, 0.4, 2.0, 40.0}) {
    for (double sd : {0.05, 1.0, 3.0}) {
      CAPTURE(mean);
      CAPTURE(sd);
      const double h = 1e-5 * sd;
      const auto at = LogExpectedImprovement(0.1, mean, sd);
      const double by_mean = (LogExpectedImprovement(0.1, mean + h, sd).value -
                              LogExpectedImprovement(0.1, mean - h, sd).value) /
                             (2 * h);
      const double by_sd = (LogExpectedImprovement(0.1, mean, sd + h).value -
                            LogExpectedImprovement(0.1, mean, sd - h).value) /
                           (2 * h);
      CHECK(at.by_mean == doctest::Approx(by_mean).epsilon(1e-4));
      CHECK(at.by_sd == doctest::Approx(by_sd).epsilon(1e-4));
    }
  }
}

TEST_CASE(
    "the augmented improvement is less where little is unknown beside the noise") {
  const double plain = LogExpectedImprovement(0.1, 0.3, 0.5).value;
  CHECK(LogAugmentedImprovement(0.1, 0.3, 0.5, 0).value == doctest::Approx(plain));
  for (double sd : {1e-4, 0.05, 2.0}) {
    for (double noise : {1e-3, 0.3}) {
      CAPTURE(sd);
      CAPTURE(noise);
      const auto at = LogAugmentedImprovement(0.1, 0.3, sd, noise);
      const double factor = 1 - noise / std::hypot(sd, noise);
      if (factor > 1e-6) {
        CHECK(at.value == doctest::Approx(LogExpectedImprovement(0.1, 0.3, sd).value +
                                          std::log(factor)));
      }
      const double h = 1e-5 * sd;
      const double by_sd = (LogAugmentedImprovement(0.1, 0.3, sd + h, noise).value -
                            LogAugmentedImprovement(0.1, 0.3, sd - h, noise).value) /
                           (2 * h);
      CHECK(at.by_sd == doctest::Approx(by_sd).epsilon(1e-4));
    }
  }
  // Known to be good, but for noise, against unknown and not so good.
  const double known = LogAugmentedImprovement(0, 0, 0.05, 0.3).value;
  const double unknown = LogAugmentedImprovement(0, 1.5, 1, 0.3).value;
  CHECK(LogExpectedImprovement(0, 0, 0.02).value <
        LogExpectedImprovement(0, 0, 0.05).value);
  CHECK(known < unknown);
}

TEST_CASE("bounded minimisation stops at the border and inside") {
  const Differentiable f = [](std::span<const double> x, std::span<double> g) {
    g[0] = 2 * (x[0] - 0.3);
    g[1] = 2 * (x[1] - 1.7);
    return (x[0] - 0.3) * (x[0] - 0.3) + (x[1] - 1.7) * (x[1] - 1.7);
  };
  const std::vector<double> low = {0, 0}, high = {1, 1};
  const auto best = Minimise(f, {0.9, 0.1}, low, high, 50);
  CHECK(best[0] == doctest::Approx(0.3).epsilon(0.01));
  CHECK(best[1] == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("the mixed optimiser finds a peak in numbers, levels and categories") {
  const Encoding encoding{Mixed()};
  const double level = encoding.axes()[2].MiddleOf(6);
  const auto f = [&](const Row& row) {
    const double x = row[0] - 0.77, y = row[1] - 0.13, k = row[2] - level;
    return -x * x - y * y - k * k - (row[3] == 2 ? 0 : 0.5);
  };
  const Score score{[&](std::span<const Row> rows) {
                      std::vector<double> values;
                      for (const Row& row : rows) values.push_back(f(row));
                      return values;
                    },
                    [&](const Row& row, std::vector<double>& g) {
                      g = {-2 * (row[0] - 0.77), -2 * (row[1] - 0.13), 0, 0};
                      return f(row);
                    }};
  Rng rng(1, TrialId(1), "optimise");
  const std::vector<Row> found =
      OptimiseMixed(encoding, score, {}, 1, InputWarp(encoding.size()), rng);
  REQUIRE_FALSE(found.empty());
  CHECK(f(found[0]) > -1e-4);
}

TEST_CASE("less effort scores fewer rows, and still climbs") {
  const Encoding encoding{Mixed()};
  const auto run = [&](double effort, size_t* scored) {
    const Score score{[&](std::span<const Row> rows) {
                        *scored += rows.size();
                        std::vector<double> values;
                        for (const Row& row : rows) {
                          values.push_back(-std::pow(row[0] - 0.77, 2));
                        }
                        return values;
                      },
                      [](const Row& row, std::vector<double>& g) {
                        g = {-2 * (row[0] - 0.77), 0, 0, 0};
                        return -std::pow(row[0] - 0.77, 2);
                      }};
    Rng rng(1, TrialId(1), "optimise");
    return OptimiseMixed(
        encoding, score, {}, effort, InputWarp(encoding.size()), rng)[0][0];
  };
  size_t all = 0, some = 0;
  CHECK(run(1, &all) == doctest::Approx(0.77).epsilon(0.01));
  CHECK(run(0.3, &some) == doctest::Approx(0.77).epsilon(0.01));
  CHECK(2 * some < all);
}

// Many trials are equally good: a model expects most where it knows least, which is in
// the corners.
TEST_CASE("on a plateau every fourth proposal stays inside the space") {
  std::vector<Parameter> parameters;
  for (const char* name : {"a", "b", "c", "d"})
    parameters.push_back({name, FloatDomain{}});
  const SearchSpace space(parameters);
  const Encoding encoding(space);
  Observations seen(encoding, Goal::kMinimize);
  History history;
  for (int i = 0; i < 40; ++i) {
    Rng rng(4, TrialId(i), "plateau");
    std::vector<double> cube(4);
    for (double& u : cube) u = rng.Uniform();
    history.ended.push_back({TrialId(i),
                             TrialState::kCompleted,
                             encoding.ToParams(cube),
                             Objective::Of(cube[0] < 0.6 ? 0.0 : 1 + cube[1]),
                             1});
  }
  seen.Update(history);
  const auto proposer = MakeGpProposer(encoding, 1);
  int inside = 0;
  for (int id = 43; id < 123; id += 4) {
    const std::vector<Row> rows = proposer->Propose(TrialId(id), seen);
    for (double u : rows[0]) {
      inside += u > 1e-6 && u < 1 - 1e-6;
    }
  }
  CHECK(inside > 60);  // of 80
}

// A landscape of many peaks, which a model of few trials takes for noise.
double Rough(double x, double y) {
  return -std::sin(17 * x + 3) * std::cos(13 * y) - 0.6 * std::sin(31 * x * y + 5 * x) -
         0.5 * x - 0.4 * y;
}

// Of 60 trials those that are within a hundredth of two earlier ones.
int Crowded(uint64_t seed) {
  const Encoding encoding(SearchSpace({{"x", FloatDomain{}}, {"y", FloatDomain{}}}));
  const auto proposer = MakeGpProposer(encoding, seed);
  Observations seen(encoding, Goal::kMinimize);
  History history;
  std::vector<Row> rows;
  int crowded = 0;
  for (int i = 0; i < 60; ++i) {
    Rng rng(seed, TrialId(i), "rough");
    const Row row = i < 4 ? Row{rng.Uniform(), rng.Uniform()}
                          : proposer->Propose(TrialId(i), seen)[0];
    crowded += std::ranges::count_if(rows, [&](const Row& other) {
                 return std::fabs(row[0] - other[0]) < 0.01 &&
                        std::fabs(row[1] - other[1]) < 0.01;
               }) > 1;
    rows.push_back(row);
    history.ended.push_back({TrialId(i),
                             TrialState::kCompleted,
                             encoding.ToParams(row),
                             Objective::Of(Rough(row[0], row[1])),
                             1});
    seen.Update(history);
  }
  return crowded;
}

TEST_CASE("on a rough function trials do not crowd in one place") {
  int crowded = 0;
  for (uint64_t seed = 0; seed < 4; ++seed) crowded += Crowded(seed);
  CHECK(crowded < 25);  // of 240; 40 with the plain improvement
}

TEST_CASE("drawn and most likely hyperparameters see which axis matters") {
  const Encoding encoding(
      SearchSpace({{"x", FloatDomain{}}, {"noise", FloatDomain{}}}));
  std::vector<Row> rows;
  std::vector<double> y;
  Rng rng(2, TrialId(0), "fit");
  for (int i = 0; i < 40; ++i) {
    rows.push_back({rng.Uniform(), rng.Uniform()});
    y.push_back(std::sin(9 * rows.back()[0]));
  }
  const GpLikelihood likelihood(encoding, rows, y);
  const ThetaPrior prior = PriorOf(encoding);
  const Vector best = MostLikelyTheta(likelihood, prior);
  CHECK(best[0] + 0.5 < best[1]);
  CHECK(likelihood.At(best) > likelihood.At(prior.mean));
  double first = 0, second = 0;
  for (const Vector& theta : SampleTheta(likelihood, prior, 8, rng)) {
    REQUIRE(std::isfinite(likelihood.At(theta)));
    first += theta[0];
    second += theta[1];
  }
  CHECK(first < second);
}

TEST_CASE("hyperparameters are fitted on prefixes of fixed sizes") {
  CHECK(PrefixOf(1) == 1);
  CHECK(PrefixOf(32) == 32);
  CHECK(PrefixOf(33) == 32);
  CHECK(PrefixOf(40) == 40);
  size_t before = 0;
  for (size_t n = 1; n < 2000; ++n) {
    const size_t prefix = PrefixOf(n);
    CHECK(prefix <= n);
    CHECK(prefix >= before);
    CHECK(4 * n < 5 * prefix + 4);
    CHECK(PrefixOf(prefix) == prefix);
    before = prefix;
  }
}

}  // namespace
}  // namespace hyperopt::internal

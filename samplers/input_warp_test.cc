// Warped inputs: the formulas, their gradients, and what they are for: a parameter that
// matters on another scale than the search file's.
#include "samplers/internal/input_warp.h"

#include <doctest/doctest.h>

#include <cmath>

#include "samplers/internal/gp_fit.h"
#include "samplers/internal/gp_parts.h"
#include "samplers/sampler.h"
#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

SearchSpace Mixed() {
  return SearchSpace({{"c", CategoricalDomain{{std::string("a"), std::string("b")}}},
                      {"k", IntDomain{.lower = 1, .upper = 9}},
                      {"x", FloatDomain{}}});
}

struct Sample {
  Encoding encoding{Mixed()};
  std::vector<Row> rows;
  std::vector<double> y;
  Vector theta;

  Sample() {
    Rng rng(3, TrialId(0), "warp");
    for (int i = 0; i < 12; ++i) {
      std::vector<double> cube(encoding.size());
      for (double& u : cube) u = rng.Uniform();
      rows.push_back(encoding.FromCube(cube));
      y.push_back(std::sin(5 * rows.back()[2]) + rows.back()[0] + 0.1 * rng.Normal());
    }
    rows[0][2] = 0;  // where slopes are steepest
    theta.resize(9);
    theta << 0.3, -0.5, -0.9, 0.2, std::log(0.02), 0.4, -0.3, -0.7, 0.5;
  }
};

TEST_CASE("a warp goes from 0 to 1, rises, and leads back") {
  for (const double a : {0.2, 0.6, 1.0, 4.0}) {
    for (const double b : {0.2, 1.0, 2.5, 5.0}) {
      CAPTURE(a);
      CAPTURE(b);
      const AxisWarp warp{a, b};
      CHECK(warp.At(0) >= 0);
      CHECK(warp.At(1) <= 1);
      double before = -1;
      for (double x = 0; x < 1; x += 0.05) {
        CAPTURE(x);
        CHECK(warp.At(x) > before);
        before = warp.At(x);
        CHECK(warp.Slope(x) > 0);
        CHECK(warp.At(warp.Back(before)) == doctest::Approx(before).epsilon(1e-6));
      }
      for (const double u : {0.0, 0.3, 1 - 0x1p-53}) {
        CHECK(warp.Back(u) >= 0);
        CHECK(warp.Back(u) < 1);
      }
    }
  }
  CHECK(AxisWarp{}.At(0.3) == 0.3);
  CHECK(AxisWarp{}.Back(0.3) == 0.3);
}

TEST_CASE("a warp's slopes are those of finite differences") {
  const double h = 1e-6;
  for (const double x : {0.01, 0.4, 0.97}) {
    CAPTURE(x);
    const double a = 0.5, b = 2;
    const AxisWarp warp{a, b};
    const auto slope = [&](const AxisWarp& up, const AxisWarp& down) {
      return (up.At(x) - down.At(x)) / (2 * h);
    };
    CHECK(warp.Slope(x) ==
          doctest::Approx((warp.At(x + h) - warp.At(x - h)) / (2 * h)).epsilon(1e-4));
    CHECK(warp.ByLogA(x) ==
          doctest::Approx(slope({a * std::exp(h), b}, {a * std::exp(-h), b}))
              .epsilon(1e-4));
    CHECK(warp.ByLogB(x) ==
          doctest::Approx(slope({a, b * std::exp(h)}, {a, b * std::exp(-h)}))
              .epsilon(1e-4));
  }
}

TEST_CASE("the likelihood of warped inputs and a prediction have true gradients") {
  const Sample sample;
  const GpLikelihood likelihood(sample.encoding, sample.rows, sample.y);
  Vector gradient;
  REQUIRE(std::isfinite(likelihood.At(sample.theta, &gradient)));
  REQUIRE(gradient.size() == sample.theta.size());
  const double h = 1e-5;
  for (Eigen::Index j = 0; j < sample.theta.size(); ++j) {
    CAPTURE(j);
    Vector up = sample.theta, down = sample.theta;
    up[j] += h;
    down[j] -= h;
    const double slope = (likelihood.At(up) - likelihood.At(down)) / (2 * h);
    CHECK(gradient[j] == doctest::Approx(slope).epsilon(1e-4));
  }
  const GpModel model(sample.encoding, sample.rows, sample.y, sample.theta);
  const Row at = {1, sample.rows[0][1], 0.31};
  Row above = at, below = at;
  above[2] += h;
  below[2] -= h;
  double mean = 0, variance = 0;
  Vector by_mean, by_variance, means, variances;
  model.Predict(at, &mean, &variance, &by_mean, &by_variance);
  model.Predict(std::vector<Row>{above, below, at}, &means, &variances);
  CHECK(means[2] == doctest::Approx(mean));
  CHECK(by_mean[2] == doctest::Approx((means[0] - means[1]) / (2 * h)).epsilon(1e-4));
  CHECK(by_variance[2] ==
        doctest::Approx((variances[0] - variances[1]) / (2 * h)).epsilon(1e-3));
}

TEST_CASE("logs of 0 are the model without a warp") {
  Sample sample;
  sample.theta.tail(4).setZero();
  const GpLikelihood likelihood(sample.encoding, sample.rows, sample.y);
  CHECK(likelihood.At(sample.theta) == likelihood.At(sample.theta.head(5)));
}

// Of ten samples of n values: how many are fitted with warped inputs, and how far the
// first twentieth of the axis that matters is stretched on the mean.
std::pair<int, double> Bent(size_t n, bool late) {
  const Encoding encoding(SearchSpace({{"x", FloatDomain{}}, {"y", FloatDomain{}}}));
  int bent = 0;
  double stretched = 0;
  for (int64_t sample = 0; sample < 10; ++sample) {
    GpData data;
    Rng rng(7, TrialId(sample), "scale");
    for (size_t i = 0; i < n; ++i) {
      data.rows.push_back({rng.Uniform(), rng.Uniform()});
      const double x = data.rows.back()[0];
      data.y.push_back((late ? std::sin(2 * std::log(x + 1e-4)) : std::sin(6 * x)) +
                       0.2 * rng.Normal());
    }
    const std::vector<Vector> thetas =
        FitThetas(encoding, data, n, Bending::kWhereLikelier, rng);
    bent += thetas.front().size() > 4;
    stretched += WarpOf(encoding, MeanOf(thetas)).axis(0).At(0.05) / 10;
  }
  return {bent, stretched};
}

TEST_CASE("inputs are warped where that explains the values") {
  for (const size_t n : {size_t{40}, size_t{120}}) {
    CAPTURE(n);
    const auto [late, stretched] = Bent(n, true);
    CHECK(late >= (n < 100 ? 6 : 9));
    CHECK(stretched > 0.1);
    const auto [even, as_it_was] = Bent(n, false);
    CHECK(even <= 5);
    CHECK(as_it_was < 0.08);
  }
}

// A learning rate from 0 to 1 without `log`, best at 0.003.
TEST_CASE("gp finds what lies in a corner of a scale") {
  const SearchSpace space({{"momentum", FloatDomain{.lower = 0, .upper = 1}},
                           {"rate", FloatDomain{.lower = 1e-5, .upper = 1}}});
  std::vector<double> found;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const auto sampler =
        MakeSampler(space, {.kind = SamplerKind::kGp, .seed = seed, .num_samples = 40});
    History history;
    double best = 1e300;
    for (int i = 0; i < 40; ++i) {
      const Params params = sampler->Suggest(TrialId(i), history).value();
      const double off = std::log10(std::get<double>(params.at("rate"))) + 2.5;
      const double value =
          1 - std::exp(-off * off) +
          0.1 * std::pow(std::get<double>(params.at("momentum")) - 0.6, 2);
      best = std::min(best, value);
      history.ended.push_back(
          {TrialId(i), TrialState::kCompleted, params, Objective::Of(value), 1});
    }
    found.push_back(best);
  }
  for (const double best : found) CHECK(best < 0.05);
}

}  // namespace
}  // namespace hyperopt::internal

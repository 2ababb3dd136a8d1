#include "samplers/internal/gp_fit.h"

#include <cmath>
#include <numbers>

#include "samplers/internal/minimise.h"

namespace hyperopt::internal {
namespace {

constexpr int kPriorDraws = 16;
constexpr int kBurnIn = 16;
constexpr int kBetween = 2;
constexpr int kMostShrinks = 40;
constexpr int kEvaluations = 40;
constexpr double kWarpSd = 0.5;

Vector DrawTheta(const ThetaPrior& prior, Rng& rng) {
  Vector theta = prior.mean;
  for (Eigen::Index j = 0; j < theta.size(); ++j)
    theta[j] += prior.sd[j] * rng.Normal();
  return theta;
}

// One step of the chain from `theta`, whose log likelihood is `*log_p`.
Vector Step(const GpLikelihood& likelihood,
            const ThetaPrior& prior,
            const Vector& theta,
            double* log_p,
            Rng& rng) {
  const Vector other = DrawTheta(prior, rng) - prior.mean;
  const double threshold = *log_p + std::log(1 - rng.Uniform());
  double angle = 2 * std::numbers::pi * rng.Uniform();
  double low = angle - 2 * std::numbers::pi, high = angle;
  for (int i = 0; i < kMostShrinks; ++i) {
    const Vector next =
        prior.mean + (theta - prior.mean) * std::cos(angle) + other * std::sin(angle);
    const double next_log_p = likelihood.At(next);
    if (next_log_p > threshold) {
      *log_p = next_log_p;
      return next;
    }
    (angle < 0 ? low : high) = angle;
    angle = low + rng.Uniform() * (high - low);
  }
  return theta;
}

}  // namespace

ThetaPrior PriorOf(const Encoding& encoding, Inputs inputs) {
  const auto d = static_cast<Eigen::Index>(encoding.size());
  const Eigen::Index logs = inputs == Inputs::kWarped ? WarpLogs(encoding) : 0;
  ThetaPrior prior{Vector(d + 2 + logs), Vector(d + 2 + logs)};
  prior.mean.tail(logs).setZero();
  prior.sd.tail(logs).setConstant(kWarpSd);
  const double numbers = std::log(0.5) + 0.35 * std::log(static_cast<double>(d) + 1);
  for (Eigen::Index j = 0; j < d; ++j) {
    const bool category =
        encoding.axes()[static_cast<size_t>(j)].kind == AxisKind::kCategorical;
    prior.mean[j] = category ? std::log(1.5) : numbers;
    prior.sd[j] = 1.0;
  }
  prior.mean[d] = 0;
  prior.sd[d] = 0.7;
  prior.mean[d + 1] = std::log(1e-3);
  prior.sd[d + 1] = 2;
  return prior;
}

std::vector<Vector> SampleTheta(const GpLikelihood& likelihood,
                                const ThetaPrior& prior,
                                int count,
                                Rng& rng) {
  Vector theta = prior.mean;
  double log_p = likelihood.At(theta);
  for (int i = 0; i < kPriorDraws; ++i) {
    const Vector draw = DrawTheta(prior, rng);
    const double draw_log_p = likelihood.At(draw);
    if (draw_log_p > log_p) {
      theta = draw;
      log_p = draw_log_p;
    }
  }
  std::vector<Vector> draws;
  for (int i = 0; i < kBurnIn; ++i) theta = Step(likelihood, prior, theta, &log_p, rng);
  while (std::ssize(draws) < count) {
    for (int i = 0; i < kBetween; ++i) {
      theta = Step(likelihood, prior, theta, &log_p, rng);
    }
    draws.push_back(theta);
  }
  return draws;
}

Vector MostLikelyTheta(const GpLikelihood& likelihood, const ThetaPrior& prior) {
  const Eigen::Index size = prior.mean.size();
  const Vector low = prior.mean - 4 * prior.sd;
  const Vector high = prior.mean + 4 * prior.sd;
  const auto f = [&](std::span<const double> x, std::span<double> by_x) {
    const Vector theta = Eigen::Map<const Vector>(x.data(), size);
    Vector gradient = Vector::Zero(size);
    const double log_p = likelihood.At(theta, &gradient);
    const Vector off = ((theta - prior.mean).array() / prior.sd.array()).matrix();
    Eigen::Map<Vector>(by_x.data(), size) =
        (off.array() / prior.sd.array()).matrix() - gradient;
    return 0.5 * off.squaredNorm() - log_p;
  };
  const std::vector<double> best =
      Minimise(f,
               {prior.mean.data(), prior.mean.data() + size},
               {low.data(), static_cast<size_t>(size)},
               {high.data(), static_cast<size_t>(size)},
               kEvaluations);
  return Eigen::Map<const Vector>(best.data(), size);
}

}  // namespace hyperopt::internal

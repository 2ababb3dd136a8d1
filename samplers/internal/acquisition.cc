#include "samplers/internal/acquisition.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

const double kLogRootTwoPi = 0.5 * std::log(2 * std::numbers::pi);

}  // namespace

double LogPhi(double z) { return -0.5 * z * z - kLogRootTwoPi; }

double LogCdf(double z) {
  if (z > -5) return std::log(NormalCdf(z));
  return std::log(0.5 * ScaledErfc(-z / std::numbers::sqrt2)) - 0.5 * z * z;
}

double LogMean(std::span<const double> values) {
  const double most = *std::ranges::max_element(values);
  double sum = 0;
  for (double v : values) sum += std::exp(v - most);
  return most + std::log(sum / static_cast<double>(values.size()));
}

double ScaledErfc(double x) {
  if (x < 10) return std::exp(x * x) * std::erfc(x);
  const double t = 1 / (2 * x * x);
  const double series = 1 - t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t * (1 - 9 * t))));
  return series / (x * std::sqrt(std::numbers::pi));
}

double LogH(double z) {
  if (z > -1) return std::log(std::exp(LogPhi(z)) + z * NormalCdf(z));
  const double t = -z;
  if (t > 1e4) return LogPhi(z) - 2 * std::log(t);
  const double ratio =
      std::sqrt(std::numbers::pi / 2) * ScaledErfc(t / std::numbers::sqrt2);
  return LogPhi(z) + std::log1p(-t * ratio);
}

LogImprovement LogExpectedImprovement(double best, double mean, double sd) {
  const double z = (best - mean) / sd;
  const double log_h = LogH(z);
  return {std::log(sd) + log_h,
          -std::exp(LogCdf(z) - log_h) / sd,
          std::exp(LogPhi(z) - log_h) / sd};
}

LogImprovement LogAugmentedImprovement(double best,
                                       double mean,
                                       double sd,
                                       double noise) {
  LogImprovement improvement = LogExpectedImprovement(best, mean, sd);
  const double r = std::hypot(sd, noise);
  improvement.value += 2 * std::log(sd) - std::log(r) - std::log(r + noise);
  improvement.by_sd += 2 / sd - (1 / r + 1 / (r + noise)) * sd / r;
  return improvement;
}

}  // namespace hyperopt::internal

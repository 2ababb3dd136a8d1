// The logarithm of the expected improvement, finite far below where the improvement
// itself is 0 (Ament et al. 2023).
#pragma once

#include <span>

namespace hyperopt::internal {

// h(z) = phi(z) + z Phi(z); EI = sd h((best - mean) / sd), for minimising.
double LogH(double z);
// exp(x^2) erfc(x) for x >= 0.
double ScaledErfc(double x);
double LogPhi(double z);  // of the normal density, and of its distribution
double LogCdf(double z);
// log of the mean of exp(values). REQUIRES: not empty.
double LogMean(std::span<const double> values);

struct LogImprovement {
  double value = 0;
  double by_mean = 0;  // derivatives
  double by_sd = 0;
};
// sd > 0.
LogImprovement LogExpectedImprovement(double best, double mean, double sd);
// The augmented expected improvement (Huang, Allen, Notz, Zeng 2006): less of it where
// what is not known is little beside the noise, so that one more value there would tell
// little. By the factor
//   1 - noise / r = sd^2 / (r (r + noise)),  r^2 = sd^2 + noise^2
// sd > 0; `noise` is a standard deviation, >= 0; without noise both are the same.
LogImprovement LogAugmentedImprovement(double best,
                                       double mean,
                                       double sd,
                                       double noise);

}  // namespace hyperopt::internal

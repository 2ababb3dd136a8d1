// The logarithm of the expected improvement, finite far below where the improvement
// itself is 0 (Ament et al. 2023).
#pragma once

namespace hyperopt::internal {

// h(z) = phi(z) + z Phi(z); EI = sd h((best - mean) / sd), for minimising.
double LogH(double z);
// exp(x^2) erfc(x) for x >= 0.
double ScaledErfc(double x);

struct LogImprovement {
  double value = 0;
  double by_mean = 0;  // derivatives
  double by_sd = 0;
};
// sd > 0.
LogImprovement LogExpectedImprovement(double best, double mean, double sd);

}  // namespace hyperopt::internal

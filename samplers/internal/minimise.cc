#include "samplers/internal/minimise.h"

#include <nlopt.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <memory>

namespace hyperopt::internal {
namespace {

// NLopt may stop with an error where a line search fails; the best point met counts.
struct Search {
  const Differentiable& f;
  std::vector<double> best;
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> gradient;
};

double Evaluate(unsigned n, const double* x, double* gradient, void* data) {
  auto& search = *static_cast<Search*>(data);
  const double value = search.f({x, n}, search.gradient);
  if (gradient != nullptr) std::ranges::copy(search.gradient, gradient);
  if (value < search.least) {
    search.least = value;
    search.best.assign(x, x + n);
  }
  // A number to walk away from, in place of infinity.
  return std::isfinite(value) ? value : 1e100;
}

}  // namespace

std::vector<double> Minimise(const Differentiable& f,
                             std::vector<double> start,
                             std::span<const double> low,
                             std::span<const double> high,
                             int evaluations) {
  const size_t n = start.size();
  assert(n > 0 && low.size() == n && high.size() == n);
  const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> opt(
      nlopt_create(NLOPT_LD_LBFGS, static_cast<unsigned>(n)), nlopt_destroy);
  Search search{.f = f, .best = start, .gradient = std::vector<double>(n)};
  nlopt_set_min_objective(opt.get(), Evaluate, &search);
  nlopt_set_lower_bounds(opt.get(), low.data());
  nlopt_set_upper_bounds(opt.get(), high.data());
  nlopt_set_maxeval(opt.get(), evaluations);
  nlopt_set_ftol_abs(opt.get(), 1e-4);
  nlopt_set_xtol_abs1(opt.get(), 1e-5);
  double value = 0;
  nlopt_optimize(opt.get(), start.data(), &value);
  return search.best;
}

}  // namespace hyperopt::internal

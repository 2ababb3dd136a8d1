// Bounded minimisation with gradients (NLopt's L-BFGS, Nocedal's low-storage BFGS).
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace hyperopt::internal {

// f(x), with its gradient written to the second argument. May be infinite, not NaN.
using Differentiable =
    std::function<double(std::span<const double>, std::span<double>)>;

// The best point that was met in at most `evaluations` from `start`; start itself where
// none is better. REQUIRES: low <= start <= high; not empty.
std::vector<double> Minimise(const Differentiable& f,
                             std::vector<double> start,
                             std::span<const double> low,
                             std::span<const double> high,
                             int evaluations);

}  // namespace hyperopt::internal

// A mixture density over a space's rows: one component an observation, which is a
// product of one kernel an axis, and one uniform component.
#pragma once

#include <span>
#include <vector>

#include "samplers/internal/encoded.h"
#include "trial/rng.h"

namespace hyperopt::internal {

// Kernels, for a component at m with bandwidth s:
//   continuous   normal(m, s) truncated to [0, 1]: a density
//   ordered      the same normal's mass in the cell, over that of [0, 1]
//   categorical  1 - s (K - 1) / K on the category, s / K on each other one
class ParzenMixture {
 public:
  // `rows[i]` has weight `weights[i]` > 0, the uniform component `prior` > 0.
  // REQUIRES: as many weights as rows; the encoding outlives the mixture.
  ParzenMixture(const Encoding& encoding,
                std::vector<Row> rows,
                std::vector<double> weights,
                double prior);

  // log of the density (of the probability, on ordered and categorical axes). Finite.
  double LogDensity(std::span<const double> row) const;
  Row Draw(Rng& rng) const;
  std::span<const double> bandwidths() const { return bandwidths_; }

 private:
  double ChooseBandwidth(size_t axis) const;
  // By level of the component where the axis has levels, else by component: the log of
  // the kernel's mass in [0, 1] and its other constants.
  void BuildConstants();
  double DrawAxis(size_t axis, double centre, Rng& rng) const;
  void BuildOrdered(size_t axis);
  // By level of a component: the log of its mass in cell `k` of the j-th ordered axis.
  const std::vector<double>& OrderedKernel(size_t j, size_t k) const;

  const Encoding& encoding_;
  std::vector<Row> rows_;
  std::vector<double> weights_;  // normalised, the uniform component's is prior_
  double prior_;
  std::vector<double> bandwidths_;
  std::vector<double> log_constant_;  // by component: weight and truncations
  std::vector<size_t> continuous_, ordered_, categorical_;
  std::vector<double> columns_;                 // continuous axes, axis after axis
  std::vector<std::vector<uint32_t>> levels_;   // of ordered and categorical axes
  std::vector<std::vector<uint32_t>> present_;  // ordered axes: levels of components
  // Memoised: the results of OrderedKernel, empty where not yet computed.
  mutable std::vector<std::vector<std::vector<double>>> kernels_;
  double log_uniform_ = 0;  // the uniform component's, less ordered ones
};

// How many of n trials count as good ones.
size_t GoodCount(size_t n);
// Of good rows, the best first: the better one weighs more, from 1.5 down to 0.5 in
// equal steps, and the uniform component 1.
ParzenMixture MixtureOfGood(const Encoding& encoding, std::vector<Row> best_first);

}  // namespace hyperopt::internal

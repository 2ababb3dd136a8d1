// What gp does alike for one objective and for several.
#pragma once

#include <span>
#include <vector>

#include "samplers/internal/encoded.h"
#include "samplers/internal/gp_fit.h"
#include "trial/rng.h"

namespace hyperopt::internal {

constexpr size_t kMostFitted = 200;       // observations theta is fitted on
constexpr size_t kMostConditioned = 500;  // observations a model knows

// The number of observations that hyperparameters are fitted on where there are n: n up
// to 32, beyond the greatest of fixed sizes, each 1.25 times the last, that is not over
// n. So they stay a function of the history and are seldom fitted anew.
size_t PrefixOf(size_t n);

// Places, ascending: the better half of `most` and the newest of the others.
std::vector<size_t> Subset(std::span<const double> y, size_t most);

struct GpData {
  std::vector<Row> rows;
  std::vector<double> y;  // warped
};
GpData DataOf(std::span<const Observation> ended, size_t most);
// The rows with the least y, the best first.
std::vector<Row> BestOf(const GpData& data, size_t count);

// Whether inputs are warped: all models' or none's, by how much likelier that makes the
// values. Those of trials that were stopped early differ for other reasons as well.
enum class Bending { kNever, kWhereLikelier, kWhereFarLikelier };

// Of the first `prefix` trials: several draws from the posterior where they are few,
// else the most likely theta alone.
std::vector<Vector> FitThetas(const Encoding& encoding,
                              const GpData& data,
                              size_t prefix,
                              Bending bending,
                              Rng& rng);

// REQUIRES: not empty, all of one size.
Vector MeanOf(std::span<const Vector> thetas);

// The share of the usual candidates that a model of so many trials scores: each costs
// their square.
double EffortOf(size_t conditioned);

// Moves the first row to the front that repeats nothing tried: nothing new would be
// learnt.
void MoveNew(std::vector<Row>& rows,
             std::span<const Observation> ended,
             std::span<const Row> pending);

}  // namespace hyperopt::internal

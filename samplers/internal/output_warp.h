// Objective values made fit for a Gaussian process.
#pragma once

#include <span>
#include <vector>

#include "samplers/internal/encoded.h"

namespace hyperopt::internal {

// One number an observation, to be minimised, with mean 0 and variance 1 (all 0 where
// nothing tells them apart), always finite:
//   1. a failure ranks last, among the others the order is that of the values;
//   2. values are told in units of the better half's spread about the median, and none
//      is more than `most_above` of them above it, so that one divergence of 1e300 does
//      not flatten the rest; where no value is better than the median, by rank;
//   3. a Yeo-Johnson transform of the most likely power.
std::vector<double> WarpOutputs(std::span<const Observation> ended,
                                double most_above = 4);

// Yeo and Johnson (2000): increasing in y for every power in [-2, 4].
double YeoJohnson(double y, double power);
// The power in [-1, 3] with which `values` look most like a normal sample.
double ChooseYeoJohnson(std::span<const double> values);

}  // namespace hyperopt::internal

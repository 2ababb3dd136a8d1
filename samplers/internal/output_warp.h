// Objective values made fit for a Gaussian process.
#pragma once

#include <span>
#include <vector>

#include "samplers/internal/encoded.h"

namespace hyperopt::internal {

// One number an observation, to be minimised, with mean 0 and variance 1 (all 0 where
// nothing tells them apart), always finite:
//   1. a failure ranks last, among the others the order is that of the values;
//   2. the worse half becomes what its ranks would be in a normal distribution that has
//      the better half's spread (Vizier's half-rank), so that one divergence of 1e300
//      does not flatten the rest;
//   3. a Yeo-Johnson transform of the most likely power.
std::vector<double> WarpOutputs(std::span<const Observation> ended);

// Yeo and Johnson (2000): increasing in y for every power in [-2, 4].
double YeoJohnson(double y, double power);
// The power in [-1, 3] with which `values` look most like a normal sample.
double ChooseYeoJohnson(std::span<const double> values);

}  // namespace hyperopt::internal

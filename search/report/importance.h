// How much each parameter had to do with a trial being among the best: PED-ANOVA
// (Watanabe, Bansal and Hutter 2023). No model is fitted: for each parameter the
// density of the best trials is held against that of all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trial/objective.h"
#include "trial/param_value.h"
#include "trial/space.h"

namespace hyperopt {

struct Importance {
  // By parameter, in the order of the space; they sum up to 1. Empty where nothing can
  // be said, and `why` says so in words.
  std::vector<double> shares;
  std::string why;
  int64_t used = 0;  // trials with a finite value
  int64_t top = 0;   // of them, those that count as best
};

// Fewer say nothing.
inline constexpr int64_t kLeastTrialsForImportance = 10;

// `params` and `values` are of the same trials; those whose value is not finite are
// left out. A parameter that a trial does not have, or whose value is not of its
// domain, is inactive there.
//
// For a parameter, with the densities p of the best tenth and q of all trials on a grid
// of its own scale (a category each, a number each where there are at most 50, else 50
// cells of the unit interval), the divergence is sum q (p / q - 1)^2. Among trials in
// which it is active it is weighted by a^2 / b, where a and b are the shares of the
// best and of all trials in which it is.
Importance ImportanceOf(const SearchSpace& space,
                        Goal goal,
                        std::span<const Params> params,
                        std::span<const Objective> values);

}  // namespace hyperopt

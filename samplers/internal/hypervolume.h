// How much of the space below a reference point a set of points dominates, and what
// another point would add to it. All objectives are to be minimised.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trial/pareto.h"

namespace hyperopt::internal {

struct Box {
  Point low, high;  // low may be -infinity
};

// What is below `reference` and dominated by none of `points`, as disjoint boxes: the
// last objective is swept, a box lasts as long as the others have it (dimension sweep
// of Fonseca, Paquete, Lopez-Ibanez 2006). n points of 2 objectives give at most n + 1
// boxes, of 3 about 2 n, of more a power of n. REQUIRES: coordinates are finite.
std::vector<Box> OpenBoxes(std::vector<Point> points, const Point& reference);

// The volume below `reference` that `points` dominate.
double Hypervolume(const std::vector<Point>& points, const Point& reference);

// What is still to be gained over a front.
//
//   (1) gain(y)  = sum over boxes of prod_i max(0, high_i - max(low_i, y_i))
//   (2) E gain   = sum over boxes of prod_i (Psi_i(high_i) - Psi_i(low_i))
//   (3) Psi_i(a) = E max(0, a - Y_i) = sd_i h((a - mean_i) / sd_i),  h as acquisition.h
//
// for independent normal Y_i: exact for any number of objectives, since each length in
// (1) depends on one of them (Emmerich, Deutz, Klinkenberg 2011 for two; Couckuyt,
// Deschrijver, Dhaene 2014 for boxes; Yang et al. 2019).
class OpenRegion {
 public:
  // Points that are not below `reference` are left out.
  OpenRegion(std::vector<Point> points, const Point& reference);

  double Gain(std::span<const double> y) const;  // (1)
  // log of (2), finite also where (2) itself is 0 in doubles. sd > 0.
  double LogExpectedGain(std::span<const double> mean,
                         std::span<const double> sd) const;
  // The same with its derivatives; slower.
  double LogExpectedGain(std::span<const double> mean,
                         std::span<const double> sd,
                         std::span<double> by_mean,
                         std::span<double> by_sd) const;
  size_t boxes() const { return low_.size() / edges_.size(); }

 private:
  double ExpectedGain(std::span<const double> mean, std::span<const double> sd) const;

  // Of each objective the bounds of all boxes, ascending.
  std::vector<std::vector<double>> edges_;
  std::vector<uint32_t> low_, high_;  // by box and objective: places in `edges_`
};

}  // namespace hyperopt::internal

// From the unit interval to cells and back: what all domains share.
//
// A u is read as m 2^-53 with an integer m: that is what Rng::Uniform gives, and what
// makes the arithmetic of equal cells exact.
#pragma once

#include <cstdint>

namespace hyperopt::internal {

// The last double below 1.
constexpr double kLastUnit = 1 - 0x1p-53;

// `u`, or the nearest number in [0, kLastUnit]. REQUIRES: not NaN.
double ClampUnit(double u);

// Splits [0, 1) into last + 1 equal cells and numbers them from 0. CellAt(MiddleOf(k))
// == k where there are at most 2^53 cells. With more there are more cells than numbers:
// cell 0 and the last one are still met, the others to within (last + 1) / 2^53.
uint64_t CellAt(double u, uint64_t last);
double MiddleOf(uint64_t cell, uint64_t last);

// The logarithmic scale of [start, start + width], told as offsets from start so that
// neither a large start nor a small one costs digits. start > 0, width > 0, both
// finite.
class LogScale {
 public:
  LogScale(double start, double width);
  // exp(log(start) + u log((start + width) / start)) - start, in [0, width].
  double OffsetAt(double u) const;
  // Its inverse, clamped to [0, kLastUnit].
  double UnitAt(double offset) const;

 private:
  double Log(double offset) const;  // log((start + offset) / start)

  double start_;
  double width_;
  double length_;
};

}  // namespace hyperopt::internal

// The numbers lower + k step, as a person would write them.
//
// 0.1 + 2 * 0.1 is 0.30000000000000004 in doubles. Bounds and steps come from text, so
// they are taken for the shortest decimals that read back as them, the sum is exact in
// integers (units of the smallest power of ten in either), and the result is the double
// next to it: 0.1 .. 0.9 by 0.1 holds 0.3. Where the integers would not fit 64 bits
// (1e10 by 1e-10) it is the nearest double to lower + k step.
#pragma once

#include <cstdint>
#include <optional>

namespace hyperopt::internal {

class StepGrid {
 public:
  // lower, step finite; step > 0; upper may be infinite. (upper - lower) / step < 2^53
  // where it is finite.
  StepGrid(double lower, double upper, double step);

  // Never above upper. |k| < 2^53; negative k lie below lower.
  double At(int64_t k) const;
  // The k with At(k) == value; may be below 0.
  std::optional<int64_t> IndexOf(double value) const;
  // The last k with At(k) <= upper; where the sum is not decimal, with a tolerance of
  // 1e-9 steps. REQUIRES: upper is finite.
  int64_t last() const;

 private:
  // lower = first * 10^exponent, step = increment * 10^exponent.
  struct Decimal {
    int64_t first;
    int64_t increment;
    int exponent;
  };
  static std::optional<Decimal> FindDecimal(double lower, double step);
  double Sum(int64_t k) const;

  double lower_;
  double upper_;
  double step_;
  std::optional<Decimal> decimal_;
};

}  // namespace hyperopt::internal

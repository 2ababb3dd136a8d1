#include "trial/internal/cells.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace hyperopt::internal {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t kUnits = uint64_t{1} << 53;

uint64_t UnitsOf(double u) { return static_cast<uint64_t>(ClampUnit(u) * 0x1p53); }

}  // namespace

double ClampUnit(double u) {
  assert(!std::isnan(u));
  return std::clamp(u, 0.0, kLastUnit);
}

uint64_t CellAt(double u, uint64_t last) {
  const uint64_t m = UnitsOf(u);
  if (m == kUnits - 1) return last;
  const Wide cells = Wide{last} + 1;
  return static_cast<uint64_t>((m * cells) >> 53);
}

double MiddleOf(uint64_t cell, uint64_t last) {
  assert(cell <= last);
  const Wide cells = Wide{last} + 1;
  auto m = static_cast<uint64_t>((2 * Wide{cell} + 1) * (kUnits / 2) / cells);
  // The middle lies between two numbers, and the lower one may be the neighbour's.
  if (m + 1 < kUnits && CellAt(static_cast<double>(m) * 0x1p-53, last) < cell) ++m;
  if (cell == last && cells > kUnits) m = kUnits - 1;
  return static_cast<double>(m) * 0x1p-53;
}

LogScale::LogScale(double start, double width) : start_(start), width_(width) {
  assert(start > 0 && width > 0 && std::isfinite(start) && std::isfinite(width));
  length_ = Log(width);
}

// log1p keeps the digits of small ratios; it would overflow with large ones.
double LogScale::Log(double offset) const {
  const double ratio = offset / start_;
  if (ratio < 1e10) return std::log1p(ratio);
  return std::log(start_ + offset) - std::log(start_);
}

double LogScale::OffsetAt(double u) const {
  const double x = ClampUnit(u) * length_;
  const double offset =
      x < 30 ? start_ * std::expm1(x) : std::exp(std::log(start_) + x) - start_;
  return std::clamp(offset, 0.0, width_);
}

double LogScale::UnitAt(double offset) const {
  return ClampUnit(Log(offset) / length_);
}

}  // namespace hyperopt::internal

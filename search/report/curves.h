// Learning curves, thinned so that a report stays small.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trial/record.h"

namespace hyperopt {

struct CurvePoint {
  int64_t step = 0;
  Objective value;
  bool operator==(const CurvePoint&) const = default;
};

// For each step the value of the highest attempt that reported one there, by step.
std::vector<CurvePoint> CurveOf(std::span<const ReportRow> reports);

// At most `most` points, the first and the last among them, evenly picked.
// REQUIRES: most >= 2.
std::vector<CurvePoint> Thinned(std::vector<CurvePoint> curve, size_t most);

inline constexpr size_t kMostCurvePoints = 200;  // of a trial
inline constexpr size_t kCurveBudget = 150'000;  // of all trials together

// How many points each of `curves` trials may have.
size_t CurvePointsFor(size_t curves);

}  // namespace hyperopt

#include "search/report/curves.h"

#include <algorithm>
#include <cassert>

namespace hyperopt {

std::vector<CurvePoint> CurveOf(std::span<const ReportRow> reports) {
  struct Point {
    CurvePoint point;
    RunKey key;
  };
  std::vector<Point> points;
  for (const ReportRow& report : reports) {
    if (report.objective.missing()) continue;
    points.push_back({{report.step, report.objective}, report.key});
  }
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.point.step != b.point.step ? a.point.step < b.point.step : a.key < b.key;
  });
  std::vector<CurvePoint> curve;
  for (const Point& point : points) {
    if (!curve.empty() && curve.back().step == point.point.step) {
      curve.back() = point.point;
    } else {
      curve.push_back(point.point);
    }
  }
  return curve;
}

std::vector<CurvePoint> Thinned(std::vector<CurvePoint> curve, size_t most) {
  assert(most >= 2);
  if (curve.size() <= most) return curve;
  std::vector<CurvePoint> thin;
  for (size_t k = 0; k < most; ++k) {
    thin.push_back(curve[k * (curve.size() - 1) / (most - 1)]);
  }
  return thin;
}

size_t CurvePointsFor(size_t curves) {
  const size_t fair = kCurveBudget / std::max<size_t>(curves, 1);
  return std::clamp<size_t>(fair, 4, kMostCurvePoints);
}

}  // namespace hyperopt

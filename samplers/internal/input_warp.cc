#include "samplers/internal/input_warp.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace hyperopt::internal {
namespace {

double Inside(double x) { return kWarpMargin + (1 - 2 * kWarpMargin) * x; }

bool IsNumber(const Axis& axis) { return axis.kind != AxisKind::kCategorical; }

}  // namespace

double AxisWarp::At(double x) const {
  if (!bends()) return x;
  return 1 - std::pow(1 - std::pow(Inside(x), a), b);
}

double AxisWarp::Back(double u) const {
  if (!bends()) return u;
  const double inside = std::pow(1 - std::pow(1 - u, 1 / b), 1 / a);
  const double x = (inside - kWarpMargin) / (1 - 2 * kWarpMargin);
  return std::clamp(x, 0.0, 1 - 0x1p-53);
}

double AxisWarp::Slope(double x) const {
  if (!bends()) return 1;
  const double in = Inside(x);
  return (1 - 2 * kWarpMargin) * a * b * std::pow(in, a - 1) *
         std::pow(1 - std::pow(in, a), b - 1);
}

double AxisWarp::ByLogA(double x) const {
  const double in = Inside(x), power = std::pow(in, a);
  return a * b * std::pow(1 - power, b - 1) * power * std::log(in);
}

double AxisWarp::ByLogB(double x) const {
  const double rest = 1 - std::pow(Inside(x), a);
  return -b * std::pow(rest, b) * std::log(rest);
}

InputWarp::InputWarp(const Encoding& encoding,
                     const Eigen::Ref<const Eigen::VectorXd>& logs)
    : axes_(encoding.size()) {
  assert(logs.size() == WarpLogs(encoding));
  Eigen::Index next = 0;
  for (size_t j = 0; j < axes_.size(); ++j) {
    if (!IsNumber(encoding.axes()[j])) continue;
    axes_[j] = {std::exp(logs[next]), std::exp(logs[next + 1])};
    next += 2;
  }
}

Row InputWarp::At(const Row& row) const {
  Row warped = row;
  for (size_t j = 0; j < row.size(); ++j) warped[j] = axes_[j].At(row[j]);
  return warped;
}

Row InputWarp::Back(const Row& warped) const {
  Row row = warped;
  for (size_t j = 0; j < row.size(); ++j) row[j] = axes_[j].Back(warped[j]);
  return row;
}

bool InputWarp::bends() const { return std::ranges::any_of(axes_, &AxisWarp::bends); }

Eigen::Index WarpLogs(const Encoding& encoding) {
  return 2 * std::ranges::count_if(encoding.axes(), IsNumber);
}

}  // namespace hyperopt::internal

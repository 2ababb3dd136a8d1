#include "samplers/internal/output_warp.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

// The distance of two values over another, also where a difference overflows.
double Ratio(double value, double middle, double scale) {
  return (value / 4 - middle / 4) / scale;
}

void Standardise(std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double square = 0;
  for (double v : values) square += (v - mean) * (v - mean);
  const double sd = std::sqrt(square / n);
  for (double& v : values) v = sd > 1e-12 ? (v - mean) / sd : 0.0;
}

// A quarter of the better half's root mean square distance from the median.
double QuarterSpread(std::span<const double> better, double median) {
  double most = 0;
  for (double v : better) most = std::max(most, median / 4 - v / 4);
  if (!(most > 0)) return 0;
  double square = 0;
  for (double v : better) {
    const double part = (median / 4 - v / 4) / most;
    square += part * part;
  }
  return most * std::sqrt(square / static_cast<double>(better.size()));
}

// Of the values in ascending order: place i of them has warped[i]. Ranks, where no
// value is better than the median.
std::vector<double> RankedOf(std::span<const double> sorted, size_t failed) {
  const size_t n = sorted.size() + failed;
  std::vector<double> warped(n);
  for (size_t i = 0; i < n;) {
    size_t end = i + 1;
    if (i >= sorted.size()) end = n;  // failures are equal
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    const double rank = (static_cast<double>(i + end) * 0.5) / static_cast<double>(n);
    const double normal = NormalQuantile(std::clamp(rank, 0.5, 1 - 0.5 / (n + 1.0)));
    std::fill(warped.begin() + static_cast<ptrdiff_t>(i),
              warped.begin() + static_cast<ptrdiff_t>(end),
              normal);
    i = end;
  }
  return warped;
}

// The same: distances from the median in units of the better half's spread, the worse
// ones up to `most_above`; a failure is as bad as the worst value.
std::vector<double> Winsorised(std::span<const double> sorted,
                               size_t failed,
                               double most_above) {
  const size_t n = sorted.size() + failed;
  const double median = sorted[std::min(sorted.size() - 1, (n - 1) / 2)];
  const auto above = std::ranges::upper_bound(sorted, median);
  const double spread = QuarterSpread({sorted.begin(), above}, median);
  if (!(spread > 0)) return RankedOf(sorted, failed);
  std::vector<double> warped;
  for (double value : sorted) {
    warped.push_back(std::min(Ratio(value, median, spread), most_above));
  }
  // A failure is to be told from the median also where nothing else is worse.
  warped.resize(n, std::max(warped.back(), 1.0));
  return warped;
}

double LogLikelihood(std::span<const double> values, double power) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, jacobian = 0;
  std::vector<double> warped;
  for (double v : values) {
    warped.push_back(YeoJohnson(v, power));
    mean += warped.back() / n;
    jacobian += std::copysign(std::log1p(std::fabs(v)), v);
  }
  double variance = 0;
  for (double w : warped) variance += (w - mean) * (w - mean) / n;
  return -0.5 * n * std::log(std::max(variance, 1e-300)) + (power - 1) * jacobian;
}

}  // namespace

double YeoJohnson(double y, double power) {
  if (y >= 0) {
    const double log = std::log1p(y);
    return std::fabs(power) < 1e-9 ? log : std::expm1(power * log) / power;
  }
  const double mirrored = 2 - power;
  const double log = std::log1p(-y);
  return std::fabs(mirrored) < 1e-9 ? -log : -std::expm1(mirrored * log) / mirrored;
}

double ChooseYeoJohnson(std::span<const double> values) {
  double best = 1, most = LogLikelihood(values, 1);
  for (int i = 0; i <= 40; ++i) {
    const double power = -1 + 0.1 * i;
    const double likelihood = LogLikelihood(values, power);
    // A clear gain is asked for: a few values tell little of a power.
    if (likelihood > most + 1e-9) {
      most = likelihood;
      best = power;
    }
  }
  return best;
}

std::vector<double> WarpOutputs(std::span<const Observation> ended, double most_above) {
  std::vector<size_t> order(ended.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    const bool failed_a = ended[a].outcome == Outcome::kFailed;
    const bool failed_b = ended[b].outcome == Outcome::kFailed;
    if (failed_a != failed_b) return failed_b;
    return !failed_a && ended[a].value < ended[b].value;
  });
  std::vector<double> sorted;
  for (size_t i : order) {
    if (ended[i].outcome != Outcome::kFailed) sorted.push_back(ended[i].value);
  }
  std::vector<double> result(ended.size(), 0.0);
  if (sorted.empty()) return result;
  std::vector<double> warped =
      Winsorised(sorted, ended.size() - sorted.size(), most_above);
  Standardise(warped);
  const double power = ChooseYeoJohnson(warped);
  for (double& v : warped) v = YeoJohnson(v, power);
  Standardise(warped);
  for (size_t i = 0; i < order.size(); ++i) result[order[i]] = warped[i];
  return result;
}

}  // namespace hyperopt::internal

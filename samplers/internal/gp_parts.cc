#include "samplers/internal/gp_parts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "samplers/internal/output_warp.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kEachSize = 32;
constexpr size_t kMostModels = 8;
constexpr size_t kModelsTimesSize = 256;
constexpr size_t kMostSampled = 100;  // beyond, the most likely theta
constexpr double kClosest = 1e-5;
// Of two trials at once the second is not to wait for the last digits of the first.
constexpr double kClosestPending = 1e-3;
constexpr double kFullEffort = 160;
// Bending's, as differences of log p.
constexpr double kLikelier = 1;
constexpr double kFarLikelier = 3;

double MeanLogP(const GpLikelihood& likelihood, std::span<const Vector> thetas) {
  double sum = 0;
  for (const Vector& theta : thetas) sum += likelihood.At(theta);
  return sum / static_cast<double>(thetas.size());
}

}  // namespace

size_t PrefixOf(size_t n) {
  if (n <= kEachSize) return n;
  size_t size = kEachSize;
  while (size + (size + 3) / 4 <= n) size += (size + 3) / 4;
  return size;
}

std::vector<size_t> Subset(std::span<const double> y, size_t most) {
  std::vector<size_t> all(y.size());
  std::iota(all.begin(), all.end(), size_t{0});
  if (y.size() <= most) return all;
  std::ranges::stable_sort(all, [&](size_t a, size_t b) { return y[a] < y[b]; });
  const auto best = static_cast<ptrdiff_t>(most / 2);
  std::sort(all.begin() + best, all.end(), std::greater<size_t>());
  all.resize(most);
  std::ranges::sort(all);
  return all;
}

GpData DataOf(std::span<const Observation> ended, size_t most) {
  const std::vector<double> y = WarpOutputs(ended);
  GpData data;
  for (size_t i : Subset(y, most)) {
    data.rows.push_back(ended[i].row);
    data.y.push_back(y[i]);
  }
  return data;
}

std::vector<Row> BestOf(const GpData& data, size_t count) {
  std::vector<size_t> order(data.y.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return data.y[a] < data.y[b]; });
  std::vector<Row> rows;
  for (size_t i = 0; i < std::min(count, order.size()); ++i) {
    rows.push_back(data.rows[order[i]]);
  }
  return rows;
}

std::vector<Vector> FitThetas(const Encoding& encoding,
                              const GpData& data,
                              size_t prefix,
                              Bending bending,
                              Rng& rng) {
  const GpLikelihood likelihood(encoding, data.rows, data.y);
  const size_t count = std::clamp(kModelsTimesSize / prefix, size_t{1}, kMostModels);
  const auto fit = [&](Inputs which) -> std::vector<Vector> {
    const ThetaPrior prior = PriorOf(encoding, which);
    if (prefix > kMostSampled) return {MostLikelyTheta(likelihood, prior)};
    return SampleTheta(likelihood, prior, static_cast<int>(count), rng);
  };
  std::vector<Vector> plain = fit(Inputs::kPlain);
  if (bending == Bending::kNever || WarpLogs(encoding) == 0) return plain;
  std::vector<Vector> warped = fit(Inputs::kWarped);
  const double gain = MeanLogP(likelihood, warped) - MeanLogP(likelihood, plain);
  const bool far = bending == Bending::kWhereFarLikelier;
  return gain > (far ? kFarLikelier : kLikelier) ? warped : plain;
}

Vector MeanOf(std::span<const Vector> thetas) {
  Vector sum = Vector::Zero(thetas.front().size());
  for (const Vector& theta : thetas) sum += theta;
  return sum / static_cast<double>(thetas.size());
}

double EffortOf(size_t conditioned) {
  return std::min(1.0, kFullEffort / static_cast<double>(conditioned));
}

void MoveNew(std::vector<Row>& rows,
             std::span<const Observation> ended,
             std::span<const Row> pending) {
  const auto close = [](const Row& a, const Row& b, double distance) {
    for (size_t j = 0; j < a.size(); ++j) {
      if (std::fabs(a[j] - b[j]) > distance) return false;
    }
    return true;
  };
  const auto is_new = [&](const Row& row) {
    return std::ranges::none_of(
               ended,
               [&](const Observation& o) { return close(o.row, row, kClosest); }) &&
           std::ranges::none_of(pending, [&](const Row& other) {
             return close(other, row, kClosestPending);
           });
  };
  // The first new one is enough.
  const auto found = std::ranges::find_if(rows, is_new);
  if (found != rows.end()) std::rotate(rows.begin(), found, found + 1);
}

}  // namespace hyperopt::internal

#include "samplers/internal/parzen.h"

#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace hyperopt::internal {
namespace {

using Array = Eigen::Map<const Eigen::ArrayXd>;

constexpr double kLeastBandwidth = 0.01;
constexpr size_t kMostGood = 40;
constexpr double kLeastMass = 1e-300;
const double kLogRootTwoPi = 0.5 * std::log(2 * std::numbers::pi);

// A standard normal's mass in [a, b], without cancellation in the tails.
double NormalMass(double a, double b) {
  if (a > 0) return NormalMass(-b, -a);
  return 0.5 * (std::erfc(-b * std::numbers::sqrt2 / 2) -
                std::erfc(-a * std::numbers::sqrt2 / 2));
}

double LogMass(double low, double high, double centre, double s) {
  return std::log(
      std::max(NormalMass((low - centre) / s, (high - centre) / s), kLeastMass));
}

}  // namespace

ParzenMixture::ParzenMixture(const Encoding& encoding,
                             std::vector<Row> rows,
                             std::vector<double> weights,
                             double prior)
    : encoding_(encoding), rows_(std::move(rows)), weights_(std::move(weights)) {
  assert(rows_.size() == weights_.size());
  double total = prior;
  for (double w : weights_) total += w;
  for (double& w : weights_) w /= total;
  prior_ = prior / total;
  for (size_t i = 0; i < encoding_.size(); ++i) {
    const AxisKind kind = encoding_.axes()[i].kind;
    (kind == AxisKind::kContinuous ? continuous_
     : kind == AxisKind::kOrdered  ? ordered_
                                   : categorical_)
        .push_back(i);
    bandwidths_.push_back(ChooseBandwidth(i));
  }
  BuildConstants();
}

// Scott's rule with the spread of the components, which is shrunk towards that of a
// uniform distribution as if two more observations had it.
double ParzenMixture::ChooseBandwidth(size_t axis) const {
  const auto n = static_cast<double>(rows_.size());
  const auto d = static_cast<double>(encoding_.size());
  if (encoding_.axes()[axis].kind == AxisKind::kCategorical) {
    return std::clamp(2 / (n + 2), 0.05, 1.0);
  }
  double mean = 0, mass = 1e-12;
  for (size_t i = 0; i < rows_.size(); ++i) {
    mean += weights_[i] * rows_[i][axis];
    mass += weights_[i];
  }
  mean /= mass;
  double variance = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const double off = rows_[i][axis] - mean;
    variance += weights_[i] / mass * off * off;
  }
  variance = (n * variance + 2.0 / 12) / (n + 2);
  return std::max(std::sqrt(variance) * std::pow(n + 1, -1 / (d + 4)), kLeastBandwidth);
}

void ParzenMixture::BuildConstants() {
  const size_t n = rows_.size();
  log_constant_.resize(n);
  for (size_t i = 0; i < n; ++i) log_constant_[i] = std::log(weights_[i]);
  for (size_t axis : continuous_) {
    const double s = bandwidths_[axis];
    for (size_t i = 0; i < n; ++i) {
      const double m = rows_[i][axis];
      log_constant_[i] -= LogMass(0, 1, m, s) + std::log(s) + kLogRootTwoPi;
      columns_.push_back(m);
    }
  }
  for (size_t axis : ordered_) BuildOrdered(axis);
  for (size_t axis : categorical_) {
    auto& levels = levels_.emplace_back();
    for (const Row& row : rows_) levels.push_back(static_cast<uint32_t>(row[axis]));
    log_uniform_ -= std::log(static_cast<double>(encoding_.axes()[axis].levels));
  }
}

void ParzenMixture::BuildOrdered(size_t axis) {
  const Axis& a = encoding_.axes()[axis];
  auto& levels = levels_.emplace_back();
  auto& present = present_.emplace_back();
  std::vector<double> log_mass(static_cast<size_t>(a.levels), 1.0);  // 1: not yet
  for (size_t i = 0; i < rows_.size(); ++i) {
    const auto level = static_cast<uint32_t>(a.LevelOf(rows_[i][axis]));
    levels.push_back(level);
    if (log_mass[level] > 0) {
      log_mass[level] = LogMass(0, 1, a.MiddleOf(level), bandwidths_[axis]);
      present.push_back(level);
    }
    log_constant_[i] -= log_mass[level];
  }
  kernels_.emplace_back(static_cast<size_t>(a.levels));
}

const std::vector<double>& ParzenMixture::OrderedKernel(size_t j, size_t k) const {
  std::vector<double>& by_level = kernels_[j][k];
  if (!by_level.empty()) return by_level;
  const Axis& a = encoding_.axes()[ordered_[j]];
  const double s = bandwidths_[ordered_[j]];
  by_level.resize(static_cast<size_t>(a.levels));
  for (uint32_t level : present_[j]) {
    const double m = a.MiddleOf(level);
    by_level[level] = LogMass(a.edges[k], a.edges[k + 1], m, s);
  }
  return by_level;
}

double ParzenMixture::LogDensity(std::span<const double> row) const {
  const size_t n = rows_.size();
  const auto size = static_cast<Eigen::Index>(n);
  std::vector<double> logs = log_constant_;
  Eigen::Map<Eigen::ArrayXd> sums(logs.data(), size);
  double uniform = std::log(prior_) + log_uniform_;
  for (size_t j = 0; j < continuous_.size(); ++j) {
    const double u = row[continuous_[j]];
    const double s = bandwidths_[continuous_[j]];
    const double scale = -0.5 / (s * s);
    sums += scale * (u - Array(columns_.data() + j * n, size)).square();
  }
  for (size_t j = 0; j < ordered_.size(); ++j) {
    const Axis& axis = encoding_.axes()[ordered_[j]];
    const auto k = static_cast<size_t>(axis.LevelOf(row[ordered_[j]]));
    const std::vector<double>& by_level = OrderedKernel(j, k);
    for (size_t i = 0; i < n; ++i) logs[i] += by_level[levels_[j][i]];
    uniform += std::log(axis.edges[k + 1] - axis.edges[k]);
  }
  for (size_t j = 0; j < categorical_.size(); ++j) {
    const auto categories =
        static_cast<double>(encoding_.axes()[categorical_[j]].levels);
    const double s = bandwidths_[categorical_[j]];
    const double same = std::log(1 - s * (categories - 1) / categories);
    const double other = std::log(s / categories);
    const auto level = static_cast<uint32_t>(row[categorical_[j]]);
    const auto& levels = levels_[ordered_.size() + j];
    for (size_t i = 0; i < n; ++i) logs[i] += levels[i] == level ? same : other;
  }
  if (n == 0) return uniform;
  const double most = std::max(uniform, sums.maxCoeff());
  return most + std::log(std::exp(uniform - most) + (sums - most).exp().sum());
}

double ParzenMixture::DrawAxis(size_t axis, double centre, Rng& rng) const {
  const Axis& a = encoding_.axes()[axis];
  const double s = bandwidths_[axis];
  if (a.kind == AxisKind::kCategorical) {
    if (rng.Uniform() >= s) return centre;
    return static_cast<double>(rng.Below(static_cast<uint64_t>(a.levels)));
  }
  const double low = NormalCdf(-centre / s);
  const double high = NormalCdf((1 - centre) / s);
  const double p = std::clamp(low + rng.Uniform() * (high - low), 1e-16, 1 - 1e-16);
  const double u = std::clamp(centre + s * NormalQuantile(p), 0.0, 1 - 0x1p-53);
  return a.kind == AxisKind::kOrdered ? a.MiddleOf(a.LevelOf(u)) : u;
}

Row ParzenMixture::Draw(Rng& rng) const {
  double u = rng.Uniform();
  const Row* centre = nullptr;
  for (size_t i = 0; i < rows_.size() && centre == nullptr; ++i) {
    if (u < weights_[i]) centre = &rows_[i];
    u -= weights_[i];
  }
  Row row(encoding_.size());
  if (centre == nullptr) {
    for (double& x : row) x = rng.Uniform();
    return encoding_.FromCube(row);
  }
  for (size_t axis = 0; axis < row.size(); ++axis) {
    row[axis] = DrawAxis(axis, (*centre)[axis], rng);
  }
  return row;
}

size_t GoodCount(size_t n) {
  const auto count = static_cast<size_t>(std::ceil(0.8 * std::sqrt(n)));
  return std::min({count, kMostGood, n});
}

ParzenMixture MixtureOfGood(const Encoding& encoding, std::vector<Row> best_first) {
  std::vector<double> weights;
  const auto n = static_cast<double>(best_first.size());
  for (size_t i = 0; i < best_first.size(); ++i) {
    weights.push_back(1.5 - (static_cast<double>(i) + 0.5) / n);
  }
  return ParzenMixture(encoding, std::move(best_first), std::move(weights), 1);
}

}  // namespace hyperopt::internal

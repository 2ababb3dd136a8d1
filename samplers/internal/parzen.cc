#include "samplers/internal/parzen.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace hyperopt::internal {
namespace {

constexpr double kLeastBandwidth = 0.01;
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
  for (size_t axis : ordered_) {
    auto& levels = levels_.emplace_back();
    for (const Row& row : rows_) {
      levels.push_back(
          static_cast<uint32_t>(encoding_.axes()[axis].LevelOf(row[axis])));
    }
  }
  for (size_t axis : categorical_) {
    auto& levels = levels_.emplace_back();
    for (const Row& row : rows_) levels.push_back(static_cast<uint32_t>(row[axis]));
    log_uniform_ -= std::log(static_cast<double>(encoding_.axes()[axis].levels));
  }
}

void ParzenMixture::OrderedKernel(size_t axis,
                                  double u,
                                  std::vector<double>& by_level) const {
  const Axis& a = encoding_.axes()[axis];
  const auto k = static_cast<size_t>(a.LevelOf(u));
  const double s = bandwidths_[axis];
  by_level.resize(static_cast<size_t>(a.levels));
  for (size_t level = 0; level < by_level.size(); ++level) {
    const double m = a.MiddleOf(static_cast<int64_t>(level));
    by_level[level] = LogMass(a.edges[k], a.edges[k + 1], m, s) - LogMass(0, 1, m, s);
  }
}

double ParzenMixture::LogDensity(std::span<const double> row) const {
  const size_t n = rows_.size();
  std::vector<double> logs = log_constant_;
  double uniform = std::log(prior_) + log_uniform_;
  for (size_t j = 0; j < continuous_.size(); ++j) {
    const double u = row[continuous_[j]];
    const double s = bandwidths_[continuous_[j]];
    const double scale = -0.5 / (s * s);
    const double* column = columns_.data() + j * n;
    for (size_t i = 0; i < n; ++i) {
      const double off = u - column[i];
      logs[i] += scale * off * off;
    }
  }
  std::vector<double> by_level;
  for (size_t j = 0; j < ordered_.size(); ++j) {
    const Axis& axis = encoding_.axes()[ordered_[j]];
    const double u = row[ordered_[j]];
    OrderedKernel(ordered_[j], u, by_level);
    for (size_t i = 0; i < n; ++i) logs[i] += by_level[levels_[j][i]];
    const auto k = static_cast<size_t>(axis.LevelOf(u));
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
  double most = uniform;
  for (double log : logs) most = std::max(most, log);
  double sum = std::exp(uniform - most);
  for (double log : logs) {
    if (log > most - 40) sum += std::exp(log - most);
  }
  return most + std::log(sum);
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

}  // namespace hyperopt::internal

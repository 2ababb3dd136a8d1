#include "samplers/internal/front_model.h"

#include <algorithm>
#include <cmath>

namespace hyperopt::internal {
namespace {

constexpr double kMargin = 0.1;       // of the front's range, beyond its worst
constexpr double kLeastMargin = 0.1;  // of the spread of all trials

}  // namespace

Point ReferenceOf(std::span<const Point> front) {
  Point low = front[0], high = front[0];
  for (const Point& point : front) {
    for (size_t i = 0; i < point.size(); ++i) {
      low[i] = std::min(low[i], point[i]);
      high[i] = std::max(high[i], point[i]);
    }
  }
  for (size_t i = 0; i < high.size(); ++i) {
    high[i] += std::max(kMargin * (high[i] - low[i]), kLeastMargin);
  }
  return high;
}

FrontModel::FrontModel(const Encoding& encoding,
                       const FrontData& data,
                       std::span<const Row> pending,
                       std::span<const Vector> thetas)
    : region_({}, {0}) {
  std::vector<Point> means(data.rows.size() + pending.size());
  for (size_t i = 0; i < thetas.size(); ++i) {
    models_.emplace_back(encoding, data.rows, data.y[i], thetas[i]);
    for (const Row& row : pending) models_.back().Believe(row);
    // What a trial that runs will find is no gain any more.
    const Vector own = models_.back().OwnMeans();
    for (size_t k = 0; k < means.size(); ++k) {
      means[k].push_back(own[static_cast<Eigen::Index>(k)]);
    }
  }
  std::vector<Point> front;
  for (size_t k : ParetoFrontOf(means)) front.push_back(means[k]);
  const Point reference = ReferenceOf(front);
  region_ = OpenRegion(std::move(front), reference);
}

std::vector<double> FrontModel::Many(std::span<const Row> rows) const {
  std::vector<Vector> means(models_.size()), variances(models_.size());
  for (size_t i = 0; i < models_.size(); ++i) {
    models_[i].Predict(rows, &means[i], &variances[i]);
  }
  std::vector<double> values, mean(models_.size()), sd(models_.size());
  for (Eigen::Index at = 0; at < std::ssize(rows); ++at) {
    for (size_t i = 0; i < models_.size(); ++i) {
      mean[i] = means[i][at];
      sd[i] = std::sqrt(variances[i][at]);
    }
    values.push_back(region_.LogExpectedGain(mean, sd));
  }
  return values;
}

double FrontModel::One(const Row& row, Vector& gradient) const {
  const size_t m = models_.size();
  std::vector<double> mean(m), sd(m), by_mean(m), by_sd(m);
  std::vector<Vector> mean_gradient(m), variance_gradient(m);
  for (size_t i = 0; i < m; ++i) {
    double variance = 0;
    models_[i].Predict(
        row, &mean[i], &variance, &mean_gradient[i], &variance_gradient[i]);
    sd[i] = std::sqrt(variance);
  }
  const double value = region_.LogExpectedGain(mean, sd, by_mean, by_sd);
  gradient = Vector::Zero(std::ssize(row));
  for (size_t i = 0; i < m; ++i) {
    gradient +=
        by_mean[i] * mean_gradient[i] + by_sd[i] / (2 * sd[i]) * variance_gradient[i];
  }
  return value;
}

}  // namespace hyperopt::internal

#include "samplers/internal/hypervolume.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

#include "samplers/internal/acquisition.h"
#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Below, sums of products are taken as logarithms.
constexpr double kLeastPlain = 1e-200;

double PlainH(double z) {
  const double phi = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return std::max(0.0, phi + z * NormalCdf(z));
}

// Adds `point`, and takes out what it dominates; false where it is dominated itself.
bool AddTo(std::vector<Point>& front, Point point) {
  for (const Point& other : front) {
    if (other == point || Dominates(other, point)) return false;
  }
  std::erase_if(front, [&](const Point& other) { return Dominates(point, other); });
  front.push_back(std::move(point));
  return true;
}

// Boxes of the first objectives that are open in the last one, from where on.
class Sweep {
 public:
  // From here on the first objectives have `boxes`.
  void Next(double at, const std::vector<Box>& boxes) {
    std::map<std::pair<Point, Point>, double> next;
    for (const Box& box : boxes) {
      auto key = std::pair(box.low, box.high);
      const auto before = open_.find(key);
      const double since = before == open_.end() ? at : before->second;
      if (before != open_.end()) open_.erase(before);
      next.emplace(std::move(key), since);
    }
    Close(at);
    open_ = std::move(next);
  }

  std::vector<Box> End(double at) {
    Close(at);
    return std::move(done_);
  }

 private:
  void Close(double at) {
    for (const auto& [key, since] : open_) {
      if (!(since < at)) continue;
      done_.push_back({key.first, key.second});
      done_.back().low.push_back(since);
      done_.back().high.push_back(at);
    }
    open_.clear();
  }

  std::map<std::pair<Point, Point>, double> open_;
  std::vector<Box> done_;
};

}  // namespace

std::vector<Box> OpenBoxes(std::vector<Point> points, const Point& reference) {
  const auto below = [&](const Point& point) {
    for (size_t i = 0; i < reference.size(); ++i) {
      if (!(point[i] < reference[i])) return false;
    }
    return true;
  };
  std::erase_if(points, [&](const Point& point) { return !below(point); });
  if (reference.size() == 1) {
    double least = reference[0];
    for (const Point& point : points) least = std::min(least, point[0]);
    return {{{-kInfinity}, {least}}};
  }
  std::ranges::sort(points,
                    [](const Point& a, const Point& b) { return a.back() < b.back(); });
  const Point rest(reference.begin(), reference.end() - 1);
  Sweep sweep;
  std::vector<Point> front;  // of those passed, without the last objective
  sweep.Next(-kInfinity, OpenBoxes(front, rest));
  for (const Point& point : points) {
    if (AddTo(front, Point(point.begin(), point.end() - 1))) {
      sweep.Next(point.back(), OpenBoxes(front, rest));
    }
  }
  return sweep.End(reference.back());
}

double Hypervolume(const std::vector<Point>& points, const Point& reference) {
  const OpenRegion all({}, reference), left(points, reference);
  Point low = reference;
  for (const Point& point : points) {
    for (size_t i = 0; i < low.size(); ++i) low[i] = std::min(low[i], point[i]);
  }
  return all.Gain(low) - left.Gain(low);
}

OpenRegion::OpenRegion(std::vector<Point> points, const Point& reference)
    : edges_(reference.size()) {
  const std::vector<Box> boxes = OpenBoxes(std::move(points), reference);
  for (size_t i = 0; i < edges_.size(); ++i) {
    for (const Box& box : boxes) {
      edges_[i].push_back(box.low[i]);
      edges_[i].push_back(box.high[i]);
    }
    std::ranges::sort(edges_[i]);
    const auto repeated = std::ranges::unique(edges_[i]);
    edges_[i].erase(repeated.begin(), repeated.end());
  }
  for (const Box& box : boxes) {
    for (size_t i = 0; i < edges_.size(); ++i) {
      const auto place = [&](double edge) {
        return static_cast<uint32_t>(std::ranges::lower_bound(edges_[i], edge) -
                                     edges_[i].begin());
      };
      low_.push_back(place(box.low[i]));
      high_.push_back(place(box.high[i]));
    }
  }
}

double OpenRegion::Gain(std::span<const double> y) const {
  double sum = 0;
  for (size_t at = 0; at < low_.size();) {
    double product = 1;
    for (size_t i = 0; i < edges_.size(); ++i, ++at) {
      product *=
          std::max(0.0, edges_[i][high_[at]] - std::max(edges_[i][low_[at]], y[i]));
    }
    sum += product;
  }
  return sum;
}

double OpenRegion::ExpectedGain(std::span<const double> mean,
                                std::span<const double> sd) const {
  std::vector<std::vector<double>> psi(edges_.size());
  for (size_t i = 0; i < edges_.size(); ++i) {
    for (double edge : edges_[i]) {
      psi[i].push_back(edge == -kInfinity ? 0
                                          : sd[i] * PlainH((edge - mean[i]) / sd[i]));
    }
  }
  double sum = 0;
  for (size_t at = 0; at < low_.size();) {
    double product = 1;
    for (size_t i = 0; i < edges_.size(); ++i, ++at) {
      product *= std::max(0.0, psi[i][high_[at]] - psi[i][low_[at]]);
    }
    sum += product;
  }
  return sum;
}

double OpenRegion::LogExpectedGain(std::span<const double> mean,
                                   std::span<const double> sd) const {
  const double plain = ExpectedGain(mean, sd);
  if (plain > kLeastPlain) return std::log(plain);
  std::vector<double> by_mean(mean.size()), by_sd(mean.size());
  return LogExpectedGain(mean, sd, by_mean, by_sd);
}

double OpenRegion::LogExpectedGain(std::span<const double> mean,
                                   std::span<const double> sd,
                                   std::span<double> by_mean,
                                   std::span<double> by_sd) const {
  const size_t m = edges_.size();
  // At each edge the logarithms of Psi, of -d Psi / d mean and of d Psi / d sd.
  struct Edge {
    double psi = -kInfinity, cdf = -kInfinity, density = -kInfinity;
  };
  std::vector<std::vector<Edge>> logs(m);
  for (size_t i = 0; i < m; ++i) {
    for (double edge : edges_[i]) {
      logs[i].push_back({});
      if (edge == -kInfinity) continue;
      const double z = (edge - mean[i]) / sd[i];
      logs[i].back() = {std::log(sd[i]) + LogH(z), LogCdf(z), LogPhi(z)};
    }
  }
  // log(exp(a) - exp(b)) for a > b.
  const auto log_less = [](double a, double b) {
    return b == -kInfinity ? a : a + std::log(-std::expm1(std::min(b - a, -1e-16)));
  };
  std::vector<double> lengths(low_.size()), terms;
  for (size_t at = 0; at < low_.size();) {
    terms.push_back(0);
    for (size_t i = 0; i < m; ++i, ++at) {
      lengths[at] = log_less(logs[i][high_[at]].psi, logs[i][low_[at]].psi);
      terms.back() += lengths[at];
    }
  }
  const double most = *std::ranges::max_element(terms);
  double sum = 0;
  for (double term : terms) sum += std::exp(term - most);
  const double result = most + std::log(sum);
  std::ranges::fill(by_mean, 0);
  std::ranges::fill(by_sd, 0);
  for (size_t at = 0; at < low_.size(); ++at) {
    const size_t i = at % m;
    const double share = std::exp(terms[at / m] - result);
    if (share < 1e-12) continue;
    const Edge &high = logs[i][high_[at]], &low = logs[i][low_[at]];
    by_mean[i] -=
        share * (std::exp(high.cdf - lengths[at]) - std::exp(low.cdf - lengths[at]));
    by_sd[i] += share * (std::exp(high.density - lengths[at]) -
                         std::exp(low.density - lengths[at]));
  }
  return result;
}

}  // namespace hyperopt::internal

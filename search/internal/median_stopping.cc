#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>

#include "search/internal/curve_rule.h"
#include "search/internal/running_median.h"
#include "search/internal/schedulers.h"

namespace hyperopt::internal {
namespace {

constexpr double kWorst = std::numeric_limits<double>::infinity();

// Keys of all columns together: 8 bytes each.
constexpr int64_t kMostKeys = int64_t{32} << 20;

// A trial's reports so far.
struct Curve {
  struct Point {
    int64_t time;
    double mean;
  };
  std::vector<Point> points;  // of the reports from grace_period on
  double best = kWorst;
  int64_t last_time = -1;

  // Mean up to `time`; nullptr where nothing counts up to it.
  const double* MeanUpTo(int64_t time) const {
    const auto after = std::upper_bound(
        points.begin(), points.end(), time, [](int64_t t, const Point& p) {
          return t < p.time;
        });
    return after == points.begin() ? nullptr : &std::prev(after)->mean;
  }
};

// At a time t the others are those that have reported at t or later, each with its mean
// up to t. Times of a trial ascend, so that this mean never changes once it is there: a
// column of them for t only grows. Columns are made when they are asked for and may be
// forgotten at any time.
class MedianStopping final : public CurveRule {
 public:
  MedianStopping(const SchedulerOptions& options, Goal goal)
      : CurveRule(goal, Decision::kStop), options_(options) {}

 private:
  struct Column {
    RunningMedian means;
    int64_t used = 0;
  };

  bool Take(size_t trial, int64_t time, double key, bool judged) override {
    if (trial >= curves_.size()) curves_.resize(trial + 1);
    Curve& curve = curves_[trial];
    curve.best = std::min(curve.best, key);
    const bool ends =
        judged && time >= options_.grace_period && IsWorseThanMedian(curve, time);
    Add(&curve, time, key);
    return ends;
  }

  // REQUIRES: the report at `time` is not in the columns yet.
  bool IsWorseThanMedian(const Curve& curve, int64_t time) {
    const RunningMedian& others = ColumnAt(time);
    if (others.count() < options_.min_samples_required) return false;
    return curve.best == kWorst || curve.best > others.median();
  }

  void Add(Curve* curve, int64_t time, double key) {
    if (!curve->points.empty()) {
      const double before = curve->points.back().mean;
      auto at = columns_.upper_bound(curve->last_time);
      for (; at != columns_.end() && at->first < time; ++at)
        Insert(&at->second, before);
    }
    curve->last_time = time;
    if (time < options_.grace_period) return;
    const double mean = curve->points.empty() ? 0 : curve->points.back().mean;
    const auto count = static_cast<int64_t>(curve->points.size()) + 1;
    // From one value on that is not finite the mean is the worst.
    const bool finite = std::isfinite(mean) && std::isfinite(key);
    curve->points.push_back({time, finite ? MeanWith(mean, key, count) : kWorst});
    const auto column = columns_.find(time);
    if (column != columns_.end()) {
      Insert(&column->second, curve->points.back().mean);
    }
  }

  void Insert(Column* column, double mean) {
    column->means.Insert(mean);
    ++keys_;
  }

  const RunningMedian& ColumnAt(int64_t time) {
    auto found = columns_.find(time);
    if (found == columns_.end()) {
      std::vector<double> means;
      for (const Curve& curve : curves_) {
        if (curve.last_time < time) continue;
        if (const double* mean = curve.MeanUpTo(time)) means.push_back(*mean);
      }
      keys_ += std::ssize(means);
      if (keys_ > kMostKeys) ForgetColumns();
      found = columns_.emplace(time, Column{RunningMedian(std::move(means))}).first;
    }
    found->second.used = ++uses_;
    return found->second.means;
  }

  // The half that was used least lately.
  void ForgetColumns() {
    std::vector<int64_t> used;
    for (const auto& [time, column] : columns_) used.push_back(column.used);
    if (used.empty()) return;
    const auto middle = used.begin() + std::ssize(used) / 2;
    std::nth_element(used.begin(), middle, used.end());
    for (auto at = columns_.begin(); at != columns_.end();) {
      if (at->second.used > *middle) {
        ++at;
        continue;
      }
      keys_ -= at->second.means.count();
      at = columns_.erase(at);
    }
  }

  const SchedulerOptions options_;
  std::vector<Curve> curves_;
  std::map<int64_t, Column> columns_;  // by time
  int64_t keys_ = 0;
  int64_t uses_ = 0;
};

}  // namespace

std::unique_ptr<Scheduler> MakeMedianStopping(const SchedulerOptions& options,
                                              Goal goal) {
  return std::make_unique<MedianStopping>(options, goal);
}

}  // namespace hyperopt::internal

// Rules that end a trial by its own curve, as complete.
#include <cmath>
#include <deque>
#include <limits>

#include "search/internal/curve_rule.h"
#include "search/internal/schedulers.h"

namespace hyperopt::internal {
namespace {

template <typename T>
T& At(std::vector<T>* all, size_t index) {
  if (index >= all->size()) all->resize(index + 1);
  return (*all)[index];
}

class Patience final : public CurveRule {
 public:
  Patience(const SchedulerOptions& options, Goal goal)
      : CurveRule(goal, Decision::kConverged), options_(options) {}

 private:
  struct Best {
    double key = std::numeric_limits<double>::infinity();
    int64_t since = -1;  // when it came; before the first finite value the first report
  };

  bool Take(size_t trial, int64_t time, double key, bool judged) override {
    Best& best = At(&trials_, trial);
    if (best.since < 0) best.since = time;
    if (std::isfinite(key) &&
        (!std::isfinite(best.key) || key < best.key - options_.min_delta)) {
      best = {key, time};
    }
    return judged && time >= options_.grace_period &&
           time - best.since >= options_.patience;
  }

  const SchedulerOptions options_;
  std::vector<Best> trials_;
};

// Population standard deviation; 0 of equal values, NaN or +inf where it is no number.
double DeviationOf(const std::deque<double>& values) {
  double mean = 0;
  int64_t count = 0;
  for (const double value : values) mean = MeanWith(mean, value, ++count);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(count));
}

class Plateau final : public CurveRule {
 public:
  Plateau(const SchedulerOptions& options, Goal goal)
      : CurveRule(goal, Decision::kConverged), options_(options) {
    if (options.metric_threshold) {
      threshold_ = KeyOf(Objective::Of(*options.metric_threshold));
    }
  }

 private:
  bool Take(size_t trial, int64_t time, double key, bool judged) override {
    std::deque<double>& last = At(&trials_, trial);
    last.push_back(key);
    if (std::ssize(last) > options_.num_results) last.pop_front();
    if (!judged || time < options_.grace_period || key > threshold_) return false;
    // A NaN compares as false: what is not finite is no plateau.
    return std::ssize(last) == options_.num_results && DeviationOf(last) < options_.std;
  }

  const SchedulerOptions options_;
  double threshold_ = std::numeric_limits<double>::infinity();
  std::vector<std::deque<double>> trials_;
};

class Target final : public CurveRule {
 public:
  Target(const SchedulerOptions& options, Goal goal)
      : CurveRule(goal, Decision::kTarget),
        target_(KeyOf(Objective::Of(options.target))) {}

 private:
  bool Take(size_t /*trial*/, int64_t /*time*/, double key, bool /*judged*/) override {
    return key <= target_;
  }

  const double target_;
};

}  // namespace

std::unique_ptr<Scheduler> MakePatience(const SchedulerOptions& options, Goal goal) {
  return std::make_unique<Patience>(options, goal);
}

std::unique_ptr<Scheduler> MakePlateau(const SchedulerOptions& options, Goal goal) {
  return std::make_unique<Plateau>(options, goal);
}

std::unique_ptr<Scheduler> MakeTarget(const SchedulerOptions& options, Goal goal) {
  return std::make_unique<Target>(options, goal);
}

}  // namespace hyperopt::internal

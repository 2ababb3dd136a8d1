#include "search/curve.h"

#include <algorithm>
#include <utility>

namespace hyperopt {

void Curve::Add(int64_t step, int32_t attempt, const Objective& value) {
  const auto at = std::lower_bound(
      points_.begin(), points_.end(), step, [](const Point& point, int64_t s) {
        return point.step < s;
      });
  highest_ = std::max(highest_, step);
  if (at != points_.end() && at->step == step) {
    if (attempt < at->attempt) return;
    replaced_ = replaced_ || !(at->value == value);
    at->value = value;
    at->attempt = attempt;
  } else if (points_.size() < kLimit) {
    points_.insert(at, {step, value, attempt});
  } else {
    ++beyond_;
  }
}

int64_t Curve::CountUpTo(int64_t step) const {
  const auto after = std::upper_bound(
      points_.begin(), points_.end(), step, [](int64_t s, const Point& point) {
        return s < point.step;
      });
  // What is said at step 0 is said before anything is done.
  const bool at_zero = !points_.empty() && points_.front().step == 0;
  const auto begin = points_.begin() + (at_zero ? 1 : 0);
  return std::max<int64_t>(0, after - begin) + (step >= highest_ ? beyond_ : 0);
}

int64_t Curve::last_step() const { return highest_; }

Curve::Best Curve::BestOf(Goal goal) const {
  Best best;
  for (const Point& point : points_) {
    if (best.value.missing() || Better(goal, point.value, best.value)) {
      best = {point.value, point.step};
    }
  }
  return best;
}

std::vector<int64_t> Curve::BestSteps(Goal goal, size_t count) const {
  std::vector<const Point*> ranked;
  for (const Point& point : points_) {
    if (point.value.finite()) ranked.push_back(&point);
  }
  count = std::min(count, ranked.size());
  std::partial_sort(ranked.begin(),
                    ranked.begin() + static_cast<std::ptrdiff_t>(count),
                    ranked.end(),
                    [goal](const Point* a, const Point* b) {
                      if (Better(goal, a->value, b->value)) return true;
                      return !Better(goal, b->value, a->value) && a->step < b->step;
                    });
  std::vector<int64_t> steps;
  for (size_t i = 0; i < count; ++i) steps.push_back(ranked[i]->step);
  return steps;
}

bool Curve::TakeReplaced() { return std::exchange(replaced_, false); }

}  // namespace hyperopt

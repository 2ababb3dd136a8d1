// The median of values that come one after another.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

namespace hyperopt::internal {

// Two heaps that meet at the median: 8 bytes a value, O(log n) an insertion, O(1) a
// look. Holds no NaN; +inf is a value like others.
class RunningMedian {
 public:
  RunningMedian() = default;
  explicit RunningMedian(std::vector<double> values) : lower_(std::move(values)) {
    const auto middle =
        lower_.begin() + static_cast<std::ptrdiff_t>((lower_.size() + 1) / 2);
    if (middle != lower_.end()) std::nth_element(lower_.begin(), middle, lower_.end());
    upper_.assign(middle, lower_.end());
    lower_.erase(middle, lower_.end());
    std::make_heap(lower_.begin(), lower_.end());
    std::make_heap(upper_.begin(), upper_.end(), std::greater<>());
  }

  void Insert(double value) {
    assert(!std::isnan(value));
    if (!lower_.empty() && value < lower_.front()) {
      Push(&lower_, value, std::less<>());
    } else {
      Push(&upper_, value, std::greater<>());
    }
    if (lower_.size() > upper_.size() + 1) {
      Push(&upper_, Pop(&lower_, std::less<>()), std::greater<>());
    } else if (upper_.size() > lower_.size()) {
      Push(&lower_, Pop(&upper_, std::greater<>()), std::less<>());
    }
  }

  int64_t count() const { return static_cast<int64_t>(lower_.size() + upper_.size()); }

  // Of an even number of values the mean of the two in the middle. REQUIRES: count() >
  // 0.
  double median() const {
    if (lower_.size() > upper_.size()) return lower_.front();
    return std::midpoint(lower_.front(), upper_.front());
  }

 private:
  template <typename Order>
  static void Push(std::vector<double>* heap, double value, Order order) {
    heap->push_back(value);
    std::push_heap(heap->begin(), heap->end(), order);
  }
  template <typename Order>
  static double Pop(std::vector<double>* heap, Order order) {
    std::pop_heap(heap->begin(), heap->end(), order);
    const double value = heap->back();
    heap->pop_back();
    return value;
  }

  std::vector<double> lower_;  // the greatest in front; as many as upper_, or one more
  std::vector<double> upper_;  // the least in front
};

}  // namespace hyperopt::internal

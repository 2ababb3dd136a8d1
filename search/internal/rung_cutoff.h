// The cutoff of one rung, kept up to date as values come.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace hyperopt::internal {

// Holds n keys (lower is better, +inf worst) and knows the k-th best of them, where
// k = max(floor(n / reduction_factor), 1). Keys only come and k only grows, so two
// heaps that meet at the cutoff do: 8 bytes a key, O(log n) an insertion, O(1) a look.
class RungCutoff {
 public:
  explicit RungCutoff(int64_t reduction_factor) : reduction_factor_(reduction_factor) {}

  void Insert(double key) {
    assert(!std::isnan(key));
    if (!best_.empty() && key < best_.front()) {
      Push(&best_, key, std::less<>());
      Push(&rest_, Pop(&best_, std::less<>()), std::greater<>());
    } else {
      Push(&rest_, key, std::greater<>());
    }
    const auto kept = std::max<int64_t>(count() / reduction_factor_, 1);
    while (static_cast<int64_t>(best_.size()) < kept) {
      Push(&best_, Pop(&rest_, std::greater<>()), std::less<>());
    }
  }

  // The k-th best key. REQUIRES: count() > 0.
  double cutoff() const { return best_.front(); }
  int64_t count() const { return static_cast<int64_t>(best_.size() + rest_.size()); }

 private:
  template <typename Order>
  static void Push(std::vector<double>* heap, double key, Order order) {
    heap->push_back(key);
    std::push_heap(heap->begin(), heap->end(), order);
  }
  template <typename Order>
  static double Pop(std::vector<double>* heap, Order order) {
    std::pop_heap(heap->begin(), heap->end(), order);
    const double key = heap->back();
    heap->pop_back();
    return key;
  }

  int64_t reduction_factor_;
  std::vector<double> best_;  // the k best, the worst of them in front
  std::vector<double> rest_;  // the others, the best of them in front
};

}  // namespace hyperopt::internal

// One rung of promotion ASHA: all that reached it, and who of them waits there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <set>
#include <vector>

namespace hyperopt::internal {

// Ordered best first: a lower key, then an earlier arrival. `order` tells any two
// apart.
struct RungEntry {
  double key = 0;  // lower is better, +inf worst
  int64_t order = 0;
  int64_t trial = 0;

  bool operator<(const RungEntry& other) const {
    return key != other.key ? key < other.key : order < other.order;
  }
  bool operator>(const RungEntry& other) const { return other < *this; }
};

// Entries only come, and the number of them that may be promoted only grows, so two
// heaps that meet at the worst of those do: O(log n) an entry, O(1) a look.
class PromotionRung {
 public:
  explicit PromotionRung(int64_t reduction_factor)
      : reduction_factor_(reduction_factor) {}

  void Insert(const RungEntry& entry) {
    if (!good_.empty() && entry < good_.top()) {
      rest_.push(good_.top());
      good_.pop();
      good_.push(entry);
    } else {
      rest_.push(entry);
    }
    while (std::ssize(good_) < Promotable()) {
      good_.push(rest_.top());
      rest_.pop();
    }
  }
  void Wait(const RungEntry& entry) { waiting_.insert(entry); }
  void Leave(const RungEntry& entry) { waiting_.erase(entry); }

  // How many of the best may go on.
  int64_t Promotable() const {
    return std::max<int64_t>(count() / reduction_factor_, count() >= 2 ? 1 : 0);
  }
  // The best that waits, where it is among those, or where it is all there is and
  // `alone` allows that.
  std::optional<int64_t> Next(bool alone) const {
    if (waiting_.empty()) return std::nullopt;
    const RungEntry& best = *waiting_.begin();
    if (alone && count() == 1) return best.trial;
    if (good_.empty() || good_.top() < best) return std::nullopt;
    return best.trial;
  }
  int64_t count() const { return std::ssize(good_) + std::ssize(rest_); }
  // How many entries are better; counts them all.
  int64_t Better(const RungEntry& entry) const {
    const auto count = [&](auto heap) {
      int64_t better = 0;
      for (; !heap.empty(); heap.pop()) better += heap.top() < entry;
      return better;
    };
    return count(good_) + count(rest_);
  }

 private:
  int64_t reduction_factor_;
  std::priority_queue<RungEntry> good_;  // the worst of them on top
  std::priority_queue<RungEntry, std::vector<RungEntry>, std::greater<>> rest_;
  std::set<RungEntry> waiting_;
};

}  // namespace hyperopt::internal

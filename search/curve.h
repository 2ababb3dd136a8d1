// The curve of one unfinished trial: for each step the value of the highest attempt
// that reached it.
#pragma once

#include <cstdint>
#include <vector>

#include "trial/objective.h"

namespace hyperopt {

// Bounded: beyond kLimit steps it only counts, and a value that a later attempt
// replaces no longer leaves the best.
class Curve {
 public:
  static constexpr size_t kLimit = 100'000;

  // A report of `attempt` at `step`.
  void Add(int64_t step, int32_t attempt, const Objective& value);

  // How many steps from 1 up to `step` carry a value: the iterations done by a
  // checkpoint of it.
  int64_t CountUpTo(int64_t step) const;
  // The largest step that was seen; 0 before the first.
  int64_t last_step() const;
  bool empty() const { return points_.empty(); }

  // Best over the curve; of equal ones the earliest step. Missing where it is empty.
  struct Best {
    Objective value;
    int64_t step = 0;
  };
  Best BestOf(Goal goal) const;
  // The best `count` steps, best first; of equal ones the earliest first. Values that
  // are not finite are none.
  std::vector<int64_t> BestSteps(Goal goal, size_t count) const;
  // Whether Add has replaced a value since the last call: the best must be taken anew.
  bool TakeReplaced();

 private:
  struct Point {
    int64_t step;
    Objective value;
    int32_t attempt;
  };
  std::vector<Point> points_;  // by step
  int64_t beyond_ = 0;         // steps not kept
  int64_t highest_ = 0;
  bool replaced_ = false;
};

}  // namespace hyperopt

// What rules have in common that look at curves and know no rungs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "search/scheduler.h"

namespace hyperopt::internal {

// Keeps the books of a Scheduler without rungs: whose time runs forward, who has been
// told to end, and the entry that says so. What a report means is the derived class's.
class CurveRule : public Scheduler {
 public:
  CurveRule(Goal goal, Decision ending) : goal_(goal), ending_(ending) {}

  void Restore(std::span<const RungRow> rungs) final;
  void Observe(TrialId trial, int64_t time, const Objective& value) final;
  Verdict OnMeasurement(TrialId trial, int64_t time, const Objective& value) final;
  std::vector<RungRow> OnFailed(TrialId /*trial*/) final { return {}; }
  std::optional<int64_t> max_time() const final { return std::nullopt; }

 protected:
  // Takes the trial's next report into its curve; `trial` counts from 0 without gaps,
  // times of a trial ascend from 0. `key` is lower for better values, +inf for all that
  // are not finite. Says whether the trial ends here; of a report that is not judged
  // the answer is not looked at and need not be worked out.
  virtual bool Take(size_t trial, int64_t time, double key, bool judged) = 0;

  double KeyOf(const Objective& value) const;

 private:
  struct Trial {
    int64_t last_time = -1;
    bool ended = false;
  };

  size_t IndexOf(TrialId trial);
  // False where the report counts for nothing.
  bool Forward(size_t trial, int64_t time, const Objective& value);

  const Goal goal_;
  const Decision ending_;                         // what a trial that ends is told
  std::unordered_map<int64_t, size_t> index_of_;  // never iterated
  std::vector<Trial> trials_;
  int64_t next_order_ = 0;
};

// Adds one value to the mean of `count` - 1 others. The mean of equal values is exactly
// their value, and it does not overflow.
inline double MeanWith(double mean, double value, int64_t count) {
  const auto n = static_cast<double>(count);
  return mean + (value / n - mean / n);
}

}  // namespace hyperopt::internal

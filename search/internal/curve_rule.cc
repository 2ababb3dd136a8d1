#include "search/internal/curve_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "trial/errors.h"

namespace hyperopt::internal {

void CurveRule::Restore(std::span<const RungRow> rungs) {
  assert(trials_.empty() && next_order_ == 0);
  for (const RungRow& row : rungs) {
    Trial& trial = trials_[IndexOf(row.trial)];
    const bool stops = ending_ == Decision::kStop;
    if (row.bracket != 0 || row.rung != 0 || row.level != row.time || row.late ||
        trial.ended || (row.stopped && !stops)) {
      throw EnvironmentError(fmt::format(
          "the record's entry of the end of trial {} (bracket {}, rung {}, level {}) "
          "does not go with the scheduler's options: it was written by other ones or "
          "is damaged",
          row.trial.value(),
          row.bracket,
          row.rung,
          row.level));
    }
    trial.ended = true;
    next_order_ = std::max(next_order_, row.order + 1);
  }
}

void CurveRule::Observe(TrialId trial, int64_t time, const Objective& value) {
  const size_t index = IndexOf(trial);
  if (Forward(index, time, value)) Take(index, time, KeyOf(value), false);
}

Verdict CurveRule::OnMeasurement(TrialId trial, int64_t time, const Objective& value) {
  const size_t index = IndexOf(trial);
  const bool ended = trials_[index].ended;
  const bool ends =
      Forward(index, time, value) && Take(index, time, KeyOf(value), !ended) && !ended;
  if (ended) return {ending_, {}};
  if (!ends) return {};
  trials_[index].ended = true;
  RungRow row;
  row.trial = trial;
  row.level = time;
  row.time = time;
  row.value = value;
  row.stopped = ending_ == Decision::kStop;
  row.order = next_order_++;
  return {ending_, {row}};
}

double CurveRule::KeyOf(const Objective& value) const {
  if (!value.finite()) return std::numeric_limits<double>::infinity();
  return goal_ == Goal::kMinimize ? value.value : -value.value;
}

size_t CurveRule::IndexOf(TrialId trial) {
  const auto [at, added] = index_of_.try_emplace(trial.value(), trials_.size());
  if (added) trials_.emplace_back();
  return at->second;
}

bool CurveRule::Forward(size_t trial, int64_t time, const Objective& value) {
  if (value.missing() || time <= trials_[trial].last_time) return false;
  trials_[trial].last_time = time;
  return true;
}

}  // namespace hyperopt::internal

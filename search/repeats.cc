#include "search/repeats.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "trial/rng.h"

namespace hyperopt {
namespace {

// Of the configurations that have a result, one in three gets a second repeat, one in
// nine a third.
constexpr int64_t kRaceFactor = 3;

int64_t Share(int64_t count, int64_t started) {
  for (int64_t i = 0; i < started && count > 0; ++i) count /= kRaceFactor;
  return std::max<int64_t>(1, count);
}

// The mean of equal values is exactly their value, and 1e308 does not overflow.
double MeanOf(const std::vector<double>& values) {
  double mean = 0;
  double count = 0;
  for (const double value : values) {
    ++count;
    mean += value / count - mean / count;
  }
  return mean;
}

double StandardError(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares / (count - 1) / count);
}

}  // namespace

Race::Race(int64_t repeats, Goal goal, TrialId from)
    : repeats_(repeats), goal_(goal), from_(from) {
  assert(repeats >= 1);
}

void Race::OnCreated(TrialId trial, std::optional<TrialId> first) {
  const TrialId id = first.value_or(trial);
  assert(first.has_value() == entries_.contains(id));
  Forget();
  Entry& entry = entries_[id];
  entry.standing.first = id;
  entry.standing.trials.push_back(trial);
  entry.ends.emplace_back();
  first_of_[trial] = id;
}

void Race::OnEnded(TrialId trial, const RepeatEnd& end) { SetEnd(trial, end); }

void Race::OnReopened(TrialId trial) { SetEnd(trial, std::nullopt); }

void Race::SetEnd(TrialId trial, std::optional<RepeatEnd> end) {
  Forget();
  Entry& entry = EntryOf(trial);
  Standing& standing = entry.standing;
  const bool of_era = standing.first >= from_;
  if (standing.known()) {
    order_.erase(KeyOf(standing));
    known_ -= of_era;
  }
  entry.ends[static_cast<size_t>(RepeatOf(trial))] = end;
  standing.values.clear();
  standing.failed = false;
  standing.best.reset();
  Objective best;
  for (size_t i = 0; i < entry.ends.size(); ++i) {
    if (!entry.ends[i]) continue;
    const TrialState state = entry.ends[i]->state;
    const Objective& value = entry.ends[i]->value;
    if (state == TrialState::kFailed || (!value.finite() && !value.missing())) {
      standing.failed = true;
    } else if (value.finite()) {
      standing.values.push_back(value.value);
      if (!best.missing() && !Better(goal_, value, best)) continue;
      best = value;
      standing.best = standing.trials[i];
    }
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const size_t count = standing.values.size();
  standing.mean = count > 0 ? MeanOf(standing.values) : kNone;
  standing.error = count > 1 ? StandardError(standing.values, standing.mean) : kNone;
  if (!standing.known()) return;
  order_.insert(KeyOf(standing));
  known_ += of_era;
}

Race::Key Race::KeyOf(const Standing& standing) const {
  const bool none = standing.values.empty();
  const double mean = none                       ? 0
                      : goal_ == Goal::kMinimize ? standing.mean
                                                 : -standing.mean;
  return {standing.failed, none, mean, -std::ssize(standing.values), standing.first};
}

std::optional<TrialId> Race::Next(bool more) const {
  std::optional<std::optional<TrialId>>& next = next_[more ? 1 : 0];
  if (!next) next = FindNext(more);
  return *next;
}

void Race::Forget() {
  for (auto& next : next_) next.reset();
}

std::optional<TrialId> Race::FindNext(bool more) const {
  if (known_ == 0 || (more && known_ < kRaceFactor)) return std::nullopt;
  const int64_t most = Share(known_, 1);
  int64_t better = 0;
  for (const Key& key : order_) {
    if (std::get<0>(key) || better >= most) break;  // what failed gets no more
    const TrialId first = std::get<TrialId>(key);
    if (first < from_) continue;
    const auto started = std::ssize(entries_.at(first).standing.trials);
    if (started < repeats_ && better < Share(known_, started)) return first;
    ++better;
  }
  return std::nullopt;
}

const Standing& Race::Of(TrialId trial) const { return EntryOf(trial).standing; }

int64_t Race::RepeatOf(TrialId trial) const {
  const std::vector<TrialId>& trials = EntryOf(trial).standing.trials;
  return std::ranges::lower_bound(trials, trial) - trials.begin();
}

std::optional<RepeatEnd> Race::EndOf(TrialId trial) const {
  return EntryOf(trial).ends[static_cast<size_t>(RepeatOf(trial))];
}

std::vector<const Standing*> Race::Ranked() const {
  std::vector<const Standing*> ranked;
  ranked.reserve(order_.size());
  for (const Key& key : order_) {
    ranked.push_back(&entries_.at(std::get<TrialId>(key)).standing);
  }
  return ranked;
}

const Standing* Race::Leader() const {
  for (const Key& key : order_) {
    const Standing& standing = entries_.at(std::get<TrialId>(key)).standing;
    if (!standing.values.empty()) return &standing;
  }
  return nullptr;
}

std::optional<RepeatEnd> RepeatEndOf(const TrialRow& row, bool value_is_best) {
  if (!IsFinished(row.state)) return std::nullopt;
  return RepeatEnd{row.state,
                   value_is_best ? row.best : row.last,
                   value_is_best ? row.best_step : row.last_step,
                   row.elapsed_s};
}

uint64_t SeedOfTrial(uint64_t seed, TrialId id) {
  return Rng(seed, id, "HYPEROPT_SEED").Next() & 0x7fffffff;
}

}  // namespace hyperopt

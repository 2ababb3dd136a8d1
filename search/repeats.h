// Repeats: a configuration is run several times, each time as a trial of its own with
// another seed; only promising ones get all of them. The rules are in search/README.md.
//
// A repeat is a trial whose `parent` is the first trial of its configuration; they are
// numbered in the order of their ids, the first is 0.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "trial/ids.h"
#include "trial/objective.h"
#include "trial/record.h"

namespace hyperopt {

// One trial of a configuration that has ended.
struct RepeatEnd {
  TrialState state = TrialState::kCompleted;
  Objective value;  // its result, by the file's `value:`
  int64_t step = 0;
  double seconds = 0;
};

// How a configuration stands.
struct Standing {
  TrialId first;
  std::vector<TrialId> trials;  // by repeat, from `first` on
  // Of the repeats that have ended with a finite value, in the order of `trials`.
  std::vector<double> values;
  bool failed = false;          // one of them failed, or never was finite
  std::optional<TrialId> best;  // of `values`, the trial of the best
  double mean = std::numeric_limits<double>::quiet_NaN();  // NaN where there is none
  double error =
      std::numeric_limits<double>::quiet_NaN();  // standard error; NaN below 2
  bool known() const { return failed || !values.empty(); }
};

// Which configuration gets its next repeat. A function of what it was told, whatever
// the order in which repeats ended. Thread-compatible.
class Race {
 public:
  // Configurations before `from` are of an earlier era: they stand, and get no more.
  // REQUIRES: repeats >= 1.
  Race(int64_t repeats, Goal goal, TrialId from);

  // By id. `first` where the trial is a repeat; it was created before.
  void OnCreated(TrialId trial, std::optional<TrialId> first);
  // For good, or until it is reopened. A trial that was stopped and has no value counts
  // for nothing.
  void OnEnded(TrialId trial, const RepeatEnd& end);
  void OnReopened(TrialId trial);

  // The first trial of the configuration whose next repeat is due. `more`: there are
  // configurations left to propose.
  std::optional<TrialId> Next(bool more) const;

  // REQUIRES: the trial was created.
  const Standing& Of(TrialId trial) const;
  int64_t RepeatOf(TrialId trial) const;
  std::optional<RepeatEnd> EndOf(TrialId trial) const;
  // Those with a value or a failure, the best first; of several that failed, or never
  // ran, those with a value first.
  std::vector<const Standing*> Ranked() const;
  // The best; nullptr where none has a value.
  const Standing* Leader() const;

 private:
  struct Entry {
    Standing standing;
    std::vector<std::optional<RepeatEnd>> ends;  // by repeat
  };
  // Better ones are less: failed, without a value, mean, how many values, number.
  using Key = std::tuple<bool, bool, double, int64_t, TrialId>;

  Key KeyOf(const Standing& standing) const;
  Entry& EntryOf(TrialId trial) { return entries_.at(first_of_.at(trial)); }
  const Entry& EntryOf(TrialId trial) const { return entries_.at(first_of_.at(trial)); }
  void SetEnd(TrialId trial, std::optional<RepeatEnd> end);
  std::optional<TrialId> FindNext(bool more) const;
  void Forget();

  const int64_t repeats_;
  const Goal goal_;
  const TrialId from_;
  std::map<TrialId, Entry> entries_;  // by the first trial
  std::map<TrialId, TrialId> first_of_;
  std::set<Key> order_;  // of those that are known
  int64_t known_ = 0;    // of this era
  // What Next has answered since the last change, by `more`: it is asked far more
  // often.
  mutable std::optional<std::optional<TrialId>> next_[2];
};

// A trial's end as its row has it; nullopt where it has none.
std::optional<RepeatEnd> RepeatEndOf(const TrialRow& row, bool value_is_best);

// A trial's HYPEROPT_SEED, the same in every attempt; no other trial has it, and so no
// other repeat of its configuration.
uint64_t SeedOfTrial(uint64_t seed, TrialId id);

}  // namespace hyperopt

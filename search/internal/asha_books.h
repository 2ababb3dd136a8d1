// The books that both forms of ASHA keep: which rungs there are, which a trial has
// passed, and the entries that say so.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/scheduler.h"
#include "trial/errors.h"

namespace hyperopt::internal {

// A trial's. Rungs are passed from the lowest up and without gaps, so that the number
// of passed ones says all about earlier times: a report that is not later than one seen
// finds no rung left at or below it.
struct AshaProgress {
  int32_t bracket = 0;
  int32_t passed = 0;
  bool stopped = false;
  bool failed = false;  // the newest entry is a failure
};

// `Rung` holds the values of one rung and is made of a reduction factor; `Progress` is
// AshaProgress, or derived from it.
template <typename Rung, typename Progress>
class AshaBooks {
 public:
  struct Bracket {
    std::vector<int64_t> levels;
    std::vector<Rung> rungs;
  };

  AshaBooks(const SchedulerOptions& options, Goal goal, uint64_t seed)
      : options_(options), goal_(goal), seed_(seed) {
    const int count = static_cast<int>(BracketWeights(options).size());
    for (int bracket = 0; bracket < count; ++bracket) {
      Bracket made{RungLevels(options, bracket), {}};
      made.rungs.resize(made.levels.size(), Rung(options.reduction_factor));
      brackets_.push_back(std::move(made));
    }
  }

  const SchedulerOptions& options() const { return options_; }
  const std::vector<Bracket>& brackets() const { return brackets_; }
  int64_t next_order() const { return next_order_; }

  // As Scheduler::Restore; `book` is called with each entry and its trial.
  template <typename Book>
  void Restore(std::span<const RungRow> rungs, const Book& book) {
    assert(trials_.empty() && next_order_ == 0);
    for (const RungRow& row : rungs) {
      Progress& trial = ProgressOf(row.trial);
      CheckRestored(row, trial);
      book(row, &trial);
      next_order_ = std::max(next_order_, row.order + 1);
    }
  }

  Progress& ProgressOf(TrialId id) {
    const auto [at, added] = trials_.try_emplace(id.value());
    if (added) at->second.bracket = BracketOf(options_, seed_, id);
    return at->second;
  }
  // nullptr where nothing came of it yet.
  const Progress* Find(TrialId id) const {
    const auto at = trials_.find(id.value());
    return at == trials_.end() ? nullptr : &at->second;
  }

  const std::vector<int64_t>& LevelsOf(const Progress& trial) const {
    return brackets_[trial.bracket].levels;
  }
  bool HasRung(const Progress& trial, int ahead = 0) const {
    return trial.passed + ahead < static_cast<int>(LevelsOf(trial).size());
  }
  // REQUIRES: rung is one of the trial's bracket.
  Rung& RungAt(const Progress& trial, int rung) {
    return brackets_[trial.bracket].rungs[rung];
  }
  const Rung& RungAt(const Progress& trial, int rung) const {
    return brackets_[trial.bracket].rungs[rung];
  }

  // For the trial's next rung. REQUIRES: HasRung.
  RungRow NextEntry(TrialId id,
                    const Progress& trial,
                    const Objective& value,
                    int64_t time) {
    RungRow row;
    row.trial = id;
    row.bracket = trial.bracket;
    row.rung = trial.passed;
    row.level = LevelsOf(trial)[trial.passed];
    row.value = value;
    row.time = time;
    row.order = next_order_++;
    return row;
  }
  // Of a failure at the next rung; none where Scheduler::OnFailed says so.
  std::vector<RungRow> FailedEntry(TrialId id, const Progress& trial) {
    if (trial.stopped || trial.failed || !HasRung(trial)) return {};
    const int64_t level = LevelsOf(trial)[trial.passed];
    return {NextEntry(id, trial, Objective::Missing(), level)};
  }

  // Counts an entry whose value, where it is not late, is in its rung.
  static void Count(const RungRow& row, Progress* trial) {
    ++trial->passed;
    trial->stopped = row.stopped;
    trial->failed = row.value.missing();
  }

  // Lower is better; all that is not finite is worst and equal.
  double Key(const Objective& value) const {
    if (!value.finite()) return std::numeric_limits<double>::infinity();
    return goal_ == Goal::kMinimize ? value.value : -value.value;
  }

 private:
  void CheckRestored(const RungRow& row, const Progress& trial) const {
    const bool fits = row.bracket == trial.bracket && row.rung == trial.passed &&
                      HasRung(trial) && !trial.stopped &&
                      row.level == LevelsOf(trial)[trial.passed];
    if (fits) return;
    throw EnvironmentError(fmt::format(
        "the record's rung entry of trial {} (bracket {}, rung {}, level {}) does not "
        "go with the scheduler's options: it was written by other ones or is damaged",
        row.trial.value(),
        row.bracket,
        row.rung,
        row.level));
  }

  const SchedulerOptions options_;
  const Goal goal_;
  const uint64_t seed_;
  std::vector<Bracket> brackets_;
  std::unordered_map<int64_t, Progress> trials_;  // never iterated
  int64_t next_order_ = 0;
};

}  // namespace hyperopt::internal

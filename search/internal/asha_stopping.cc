#include <fmt/format.h>

#include <cassert>
#include <limits>
#include <unordered_map>

#include "search/internal/rung_cutoff.h"
#include "search/internal/schedulers.h"
#include "trial/errors.h"

namespace hyperopt::internal {
namespace {

// A trial's books. Rungs are passed from the lowest up and without gaps, so that the
// number of passed ones says all about earlier times: a report that is not later than
// one seen finds no rung left at or below it.
struct Progress {
  int32_t bracket = 0;
  int32_t passed = 0;
  bool stopped = false;
  bool failed = false;  // the newest entry is a failure
};

struct Bracket {
  std::vector<int64_t> levels;
  std::vector<RungCutoff> rungs;
};

class AshaStopping final : public Scheduler {
 public:
  AshaStopping(const SchedulerOptions& options, Goal goal, uint64_t seed)
      : options_(options), goal_(goal), seed_(seed) {
    const int count = static_cast<int>(BracketWeights(options).size());
    for (int bracket = 0; bracket < count; ++bracket) {
      Bracket made{RungLevels(options, bracket), {}};
      made.rungs.resize(made.levels.size(), RungCutoff(options.reduction_factor));
      brackets_.push_back(std::move(made));
    }
  }

  void Restore(std::span<const RungRow> rungs) override {
    assert(trials_.empty() && next_order_ == 0);
    for (const RungRow& row : rungs) {
      Progress& trial = ProgressOf(row.trial);
      CheckRestored(row, trial);
      Book(row, &trial);
      next_order_ = std::max(next_order_, row.order + 1);
    }
  }

  void Observe(TrialId /*id*/, int64_t /*time*/, const Objective& /*value*/) override {}

  Verdict OnMeasurement(TrialId id, int64_t time, const Objective& value) override {
    Progress& trial = ProgressOf(id);
    if (trial.stopped) return {Decision::kStop, {}};
    Verdict verdict;
    if (value.missing()) return verdict;
    const std::vector<int64_t>& levels = brackets_[trial.bracket].levels;
    while (HasRung(trial) && levels[trial.passed] <= time) {
      RungRow row = NextEntry(id, trial, value, time);
      row.late = HasRung(trial, 1) && levels[trial.passed + 1] <= time;
      if (!row.late) row.stopped = Judge(trial, row);
      Count(row, &trial);
      if (row.stopped) verdict.decision = Decision::kStop;
      verdict.entries.push_back(row);
    }
    return verdict;
  }

  std::vector<RungRow> OnFailed(TrialId id) override {
    Progress& trial = ProgressOf(id);
    if (trial.stopped || trial.failed || !HasRung(trial)) return {};
    const int64_t level = brackets_[trial.bracket].levels[trial.passed];
    const RungRow row = NextEntry(id, trial, Objective::Missing(), level);
    Book(row, &trial);
    return {row};
  }

  std::optional<int64_t> max_time() const override { return options_.max_t; }

 private:
  Progress& ProgressOf(TrialId id) {
    const auto [at, added] = trials_.try_emplace(id.value());
    if (added) at->second.bracket = BracketOf(options_, seed_, id);
    return at->second;
  }

  bool HasRung(const Progress& trial, int ahead = 0) const {
    const auto rungs = static_cast<int>(brackets_[trial.bracket].levels.size());
    return trial.passed + ahead < rungs;
  }

  RungRow NextEntry(TrialId id,
                    const Progress& trial,
                    const Objective& value,
                    int64_t time) {
    RungRow row;
    row.trial = id;
    row.bracket = trial.bracket;
    row.rung = trial.passed;
    row.level = brackets_[trial.bracket].levels[trial.passed];
    row.value = value;
    row.time = time;
    row.order = next_order_++;
    return row;
  }

  // Lower is better; all that is not finite is worst and equal.
  double Key(const Objective& value) const {
    if (!value.finite()) return std::numeric_limits<double>::infinity();
    return goal_ == Goal::kMinimize ? value.value : -value.value;
  }

  // Enters a value that is judged and says whether its trial stops.
  bool Judge(const Progress& trial, const RungRow& row) {
    RungCutoff& rung = brackets_[trial.bracket].rungs[trial.passed];
    const double key = Key(row.value);
    rung.Insert(key);
    if (row.time >= options_.max_t) return false;
    return !row.value.finite() || key > rung.cutoff();
  }

  // Counts an entry whose value, where it is not late, is in its rung.
  void Count(const RungRow& row, Progress* trial) {
    ++trial->passed;
    trial->stopped = row.stopped;
    trial->failed = row.value.missing();
  }

  void Book(const RungRow& row, Progress* trial) {
    if (!row.late) brackets_[row.bracket].rungs[row.rung].Insert(Key(row.value));
    Count(row, trial);
  }

  void CheckRestored(const RungRow& row, const Progress& trial) const {
    const bool fits = row.bracket == trial.bracket && row.rung == trial.passed &&
                      HasRung(trial) && !trial.stopped &&
                      row.level == brackets_[trial.bracket].levels[trial.passed];
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

}  // namespace

std::unique_ptr<Scheduler> MakeAshaStopping(const SchedulerOptions& options,
                                            Goal goal,
                                            uint64_t seed) {
  return std::make_unique<AshaStopping>(options, goal, seed);
}

}  // namespace hyperopt::internal

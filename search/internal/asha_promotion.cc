#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <unordered_map>

#include "search/internal/promotion_rung.h"
#include "search/internal/schedulers.h"
#include "trial/errors.h"

namespace hyperopt::internal {
namespace {

// A trial's books. Rungs are passed from the lowest up and without gaps.
struct Progress {
  int32_t bracket = 0;
  int32_t passed = 0;
  bool stopped = false;
  bool failed = false;  // the newest entry is a failure
  bool waits = false;
  RungEntry entry;  // the newest that counts
};

struct Bracket {
  std::vector<int64_t> levels;
  std::vector<PromotionRung> rungs;
};

class AshaPromotion final : public Scheduler {
 public:
  AshaPromotion(const SchedulerOptions& options, Goal goal, uint64_t seed)
      : options_(options), goal_(goal), seed_(seed) {
    const int count = static_cast<int>(BracketWeights(options).size());
    for (int bracket = 0; bracket < count; ++bracket) {
      Bracket made{RungLevels(options, bracket), {}};
      made.rungs.resize(made.levels.size(), PromotionRung(options.reduction_factor));
      for (size_t rung = 0; rung < made.levels.size(); ++rung) {
        from_top_.push_back({made.levels[rung], bracket, static_cast<int>(rung)});
      }
      brackets_.push_back(std::move(made));
    }
    std::ranges::stable_sort(from_top_, std::greater<>(), &Place::level);
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

  void Observe(TrialId, int64_t, const Objective&) override {}  // only rungs count

  Verdict OnMeasurement(TrialId id, int64_t time, const Objective& value) override {
    Progress& trial = ProgressOf(id);
    if (trial.stopped) return {Decision::kStop, {}};
    assert(!trial.waits);
    Verdict verdict;
    if (value.missing()) return verdict;
    const std::vector<int64_t>& levels = brackets_[trial.bracket].levels;
    while (HasRung(trial) && levels[trial.passed] <= time) {
      RungRow row = NextEntry(id, trial, value, time);
      row.late = HasRung(trial, 1) && levels[trial.passed + 1] <= time;
      const bool waits = !row.late && time < options_.max_t;
      row.stopped = waits && !value.finite();
      if (waits) verdict.decision = row.stopped ? Decision::kStop : Decision::kPause;
      Book(row, &trial);
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

  std::optional<int64_t> Budget(TrialId id) override {
    const Progress& trial = ProgressOf(id);
    if (!HasRung(trial)) return options_.max_t;
    return brackets_[trial.bracket].levels[trial.passed];
  }

  void OnPaused(TrialId id) override {
    Progress& trial = ProgressOf(id);
    if (trial.passed == 0 || trial.stopped || trial.failed) {
      throw EnvironmentError(fmt::format(
          "the record holds trial {} as paused, and no rung that it waits at",
          id.value()));
    }
    trial.waits = true;
    RungOf(trial).Wait(trial.entry);
  }

  void OnEnded(TrialId id) override { Leave(&ProgressOf(id)); }
  void OnPromoted(TrialId id) override {
    assert(ProgressOf(id).waits);
    Leave(&ProgressOf(id));
  }

  std::optional<Promotion> NextPromotion(bool more) const override {
    for (const Place& place : from_top_) {
      const PromotionRung& rung = brackets_[place.bracket].rungs[place.rung];
      if (const auto trial = rung.Next(!more)) {
        return Promotion{TrialId(*trial), std::nullopt, next_order_};
      }
    }
    return std::nullopt;
  }

  std::string WaitsFor(TrialId id) const override {
    const auto at = trials_.find(id.value());
    if (at == trials_.end() || !at->second.waits) return "";
    const Progress& trial = at->second;
    const Bracket& bracket = brackets_[trial.bracket];
    const PromotionRung& rung = bracket.rungs[trial.passed - 1];
    return fmt::format(
        "waits at {} of {}: {} better of {} there, and the best {} go on to {}",
        bracket.levels[trial.passed - 1],
        options_.max_t,
        rung.Better(trial.entry),
        rung.count(),
        rung.Promotable(),
        HasRung(trial) ? bracket.levels[trial.passed] : options_.max_t);
  }

 private:
  struct Place {
    int64_t level;
    int bracket;
    int rung;
  };

  Progress& ProgressOf(TrialId id) {
    const auto [at, added] = trials_.try_emplace(id.value());
    if (added) at->second.bracket = BracketOf(options_, seed_, id);
    return at->second;
  }

  PromotionRung& RungOf(const Progress& trial) {
    return brackets_[trial.bracket].rungs[trial.passed - 1];
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

  // Lower is better; all that is not finite is worst.
  double Key(const Objective& value) const {
    if (!value.finite()) return std::numeric_limits<double>::infinity();
    return goal_ == Goal::kMinimize ? value.value : -value.value;
  }

  void Book(const RungRow& row, Progress* trial) {
    ++trial->passed;
    trial->stopped = row.stopped;
    trial->failed = row.value.missing();
    if (row.late) return;
    trial->entry = {Key(row.value), row.order, row.trial.value()};
    RungOf(*trial).Insert(trial->entry);
  }

  void Leave(Progress* trial) {
    if (!trial->waits) return;
    trial->waits = false;
    RungOf(*trial).Leave(trial->entry);
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
  std::vector<Place> from_top_;                   // the highest level first
  std::unordered_map<int64_t, Progress> trials_;  // never iterated
  int64_t next_order_ = 0;
};

}  // namespace

std::unique_ptr<Scheduler> MakeAshaPromotion(const SchedulerOptions& options,
                                             Goal goal,
                                             uint64_t seed) {
  return std::make_unique<AshaPromotion>(options, goal, seed);
}

}  // namespace hyperopt::internal

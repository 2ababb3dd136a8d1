#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "search/internal/asha_books.h"
#include "search/internal/promotion_rung.h"
#include "search/internal/schedulers.h"
#include "trial/errors.h"

namespace hyperopt::internal {
namespace {

struct Progress : AshaProgress {
  bool waits = false;
  RungEntry entry;  // the newest that counts
};

class AshaPromotion final : public Scheduler {
 public:
  AshaPromotion(const SchedulerOptions& options, Goal goal, uint64_t seed)
      : books_(options, goal, seed) {
    const auto& brackets = books_.brackets();
    for (size_t bracket = 0; bracket < brackets.size(); ++bracket) {
      const std::vector<int64_t>& levels = brackets[bracket].levels;
      for (size_t rung = 0; rung < levels.size(); ++rung) {
        from_top_.push_back({levels[rung], bracket, rung});
      }
    }
    std::ranges::stable_sort(from_top_, std::greater<>(), &Place::level);
  }

  void Restore(std::span<const RungRow> rungs) override {
    books_.Restore(rungs,
                   [this](const RungRow& row, Progress* trial) { Book(row, trial); });
  }

  void Observe(TrialId, int64_t, const Objective&) override {}  // only rungs count

  Verdict OnMeasurement(TrialId id, int64_t time, const Objective& value) override {
    Progress& trial = books_.ProgressOf(id);
    if (trial.stopped) return {Decision::kStop, {}};
    assert(!trial.waits);
    Verdict verdict;
    if (value.missing()) return verdict;
    const std::vector<int64_t>& levels = books_.LevelsOf(trial);
    while (books_.HasRung(trial) && levels[trial.passed] <= time) {
      RungRow row = books_.NextEntry(id, trial, value, time);
      row.late = books_.HasRung(trial, 1) && levels[trial.passed + 1] <= time;
      const bool waits = !row.late && time < books_.options().max_t;
      row.stopped = waits && !value.finite();
      if (waits) verdict.decision = row.stopped ? Decision::kStop : Decision::kPause;
      Book(row, &trial);
      verdict.entries.push_back(row);
    }
    return verdict;
  }

  std::vector<RungRow> OnFailed(TrialId id) override {
    Progress& trial = books_.ProgressOf(id);
    std::vector<RungRow> entry = books_.FailedEntry(id, trial);
    if (!entry.empty()) Book(entry.front(), &trial);
    return entry;
  }

  std::optional<int64_t> max_time() const override { return books_.options().max_t; }

  std::optional<int64_t> Budget(TrialId id) override {
    const Progress& trial = books_.ProgressOf(id);
    if (!books_.HasRung(trial)) return books_.options().max_t;
    return books_.LevelsOf(trial)[trial.passed];
  }

  void OnPaused(TrialId id) override {
    Progress& trial = books_.ProgressOf(id);
    if (trial.passed == 0 || trial.stopped || trial.failed) {
      throw EnvironmentError(fmt::format(
          "the record holds trial {} as paused, and no rung that it waits at",
          id.value()));
    }
    trial.waits = true;
    RungOf(trial).Wait(trial.entry);
  }

  void OnEnded(TrialId id) override { Leave(&books_.ProgressOf(id)); }
  void OnPromoted(TrialId id) override {
    assert(books_.ProgressOf(id).waits);
    Leave(&books_.ProgressOf(id));
  }

  std::optional<Promotion> NextPromotion(bool more) const override {
    for (const Place& place : from_top_) {
      const PromotionRung& rung = books_.brackets()[place.bracket].rungs[place.rung];
      if (const auto trial = rung.Next(!more)) {
        return Promotion{TrialId(*trial), std::nullopt, books_.next_order()};
      }
    }
    return std::nullopt;
  }

  std::string WaitsFor(TrialId id) const override {
    const Progress* trial = books_.Find(id);
    if (trial == nullptr || !trial->waits) return "";
    const std::vector<int64_t>& levels = books_.LevelsOf(*trial);
    const PromotionRung& rung = books_.RungAt(*trial, trial->passed - 1);
    const int64_t max_t = books_.options().max_t;
    return fmt::format(
        "waits at {} of {}: {} better of {} there, and the best {} go on to {}",
        levels[trial->passed - 1],
        max_t,
        rung.Better(trial->entry),
        rung.count(),
        rung.Promotable(),
        books_.HasRung(*trial) ? levels[trial->passed] : max_t);
  }

 private:
  struct Place {
    int64_t level;
    size_t bracket, rung;
  };

  PromotionRung& RungOf(const Progress& trial) {
    return books_.RungAt(trial, trial.passed - 1);
  }

  void Book(const RungRow& row, Progress* trial) {
    books_.Count(row, trial);
    if (row.late) return;
    trial->entry = {books_.Key(row.value), row.order, row.trial.value()};
    RungOf(*trial).Insert(trial->entry);
  }

  void Leave(Progress* trial) {
    if (!trial->waits) return;
    trial->waits = false;
    RungOf(*trial).Leave(trial->entry);
  }

  AshaBooks<PromotionRung, Progress> books_;
  std::vector<Place> from_top_;  // the highest level first
};

}  // namespace

std::unique_ptr<Scheduler> MakeAshaPromotion(const SchedulerOptions& options,
                                             Goal goal,
                                             uint64_t seed) {
  return std::make_unique<AshaPromotion>(options, goal, seed);
}

}  // namespace hyperopt::internal

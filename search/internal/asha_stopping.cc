#include "search/internal/asha_books.h"
#include "search/internal/rung_cutoff.h"
#include "search/internal/schedulers.h"

namespace hyperopt::internal {
namespace {

class AshaStopping final : public Scheduler {
 public:
  AshaStopping(const SchedulerOptions& options, Goal goal, uint64_t seed)
      : books_(options, goal, seed) {}

  void Restore(std::span<const RungRow> rungs) override {
    books_.Restore(
        rungs, [this](const RungRow& row, AshaProgress* trial) { Book(row, trial); });
  }

  void Observe(TrialId /*id*/, int64_t /*time*/, const Objective& /*value*/) override {}

  Verdict OnMeasurement(TrialId id, int64_t time, const Objective& value) override {
    AshaProgress& trial = books_.ProgressOf(id);
    if (trial.stopped) return {Decision::kStop, {}};
    Verdict verdict;
    if (value.missing()) return verdict;
    const std::vector<int64_t>& levels = books_.LevelsOf(trial);
    while (books_.HasRung(trial) && levels[trial.passed] <= time) {
      RungRow row = books_.NextEntry(id, trial, value, time);
      row.late = books_.HasRung(trial, 1) && levels[trial.passed + 1] <= time;
      if (!row.late) row.stopped = Judge(trial, row);
      books_.Count(row, &trial);
      if (row.stopped) verdict.decision = Decision::kStop;
      verdict.entries.push_back(row);
    }
    return verdict;
  }

  std::vector<RungRow> OnFailed(TrialId id) override {
    AshaProgress& trial = books_.ProgressOf(id);
    std::vector<RungRow> entry = books_.FailedEntry(id, trial);
    if (!entry.empty()) Book(entry.front(), &trial);
    return entry;
  }

  std::optional<int64_t> max_time() const override { return books_.options().max_t; }

 private:
  // Enters a value that is judged and says whether its trial stops.
  bool Judge(const AshaProgress& trial, const RungRow& row) {
    RungCutoff& rung = books_.RungAt(trial, trial.passed);
    const double key = books_.Key(row.value);
    rung.Insert(key);
    if (row.time >= books_.options().max_t) return false;
    return !row.value.finite() || key > rung.cutoff();
  }

  void Book(const RungRow& row, AshaProgress* trial) {
    if (!row.late) books_.RungAt(*trial, row.rung).Insert(books_.Key(row.value));
    books_.Count(row, trial);
  }

  AshaBooks<RungCutoff, AshaProgress> books_;
};

}  // namespace

std::unique_ptr<Scheduler> MakeAshaStopping(const SchedulerOptions& options,
                                            Goal goal,
                                            uint64_t seed) {
  return std::make_unique<AshaStopping>(options, goal, seed);
}

}  // namespace hyperopt::internal

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "search/internal/promotion_rung.h"
#include "search/internal/schedulers.h"
#include "trial/errors.h"
#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

struct Member {
  int32_t passed = 0;  // rungs
  bool waits = false;
  bool ended = false;
  bool has_entry = false;
  RungEntry entry;  // the newest that counts
  Objective value;  // of it
};

class Pbt final : public Scheduler {
 public:
  Pbt(const SchedulerOptions& options, Goal goal, uint64_t seed)
      : options_(options), goal_(goal), seed_(seed) {
    const int64_t every = options.pbt.perturbation_interval;
    first_ = std::max<int64_t>((options.pbt.burn_in_period + every - 1) / every, 1);
  }

  void Restore(std::span<const RungRow> rungs) override {
    assert(members_.empty() && next_order_ == 0);
    for (const RungRow& row : rungs) {
      Member& member = members_[row.trial.value()];
      const bool known = row.bracket == 0 && row.rung >= member.passed &&
                         row.level == LevelOf(row.rung) && row.level < options_.max_t;
      if (!known) {
        throw EnvironmentError(fmt::format(
            "the record's rung entry of trial {} (rung {}, level {}) does not go with "
            "the scheduler's options: it was written by other ones or is damaged",
            row.trial.value(),
            row.rung,
            row.level));
      }
      Book(row, &member);
      next_order_ = std::max(next_order_, row.order + 1);
    }
  }

  void Observe(TrialId, int64_t, const Objective&) override {}  // only rungs count

  Verdict OnMeasurement(TrialId id, int64_t time, const Objective& value) override {
    Member& member = members_[id.value()];
    assert(!member.waits);
    member.ended = false;  // one that failed and was run again
    if (value.missing() || time < LevelOf(member.passed)) return {};
    // What was reached at once is passed; the highest of them counts.
    const int64_t at = std::min(time, options_.max_t - 1);
    const int64_t rung = at / options_.pbt.perturbation_interval - first_;
    if (rung < member.passed) return {};  // max_t is before the next interval's end
    RungRow row = NextEntry(id, rung, value, time);
    Book(row, &member);
    return {time < options_.max_t ? Decision::kPause : Decision::kContinue, {row}};
  }

  // Its place is lost; the others are compared among themselves.
  std::vector<RungRow> OnFailed(TrialId /*id*/) override { return {}; }

  std::optional<int64_t> max_time() const override { return options_.max_t; }

  std::optional<int64_t> Budget(TrialId id) override {
    return std::min(LevelOf(members_[id.value()].passed), options_.max_t);
  }

  void OnPaused(TrialId id) override {
    Member& member = members_[id.value()];
    if (!member.has_entry) {
      throw EnvironmentError(fmt::format(
          "the record holds trial {} as paused, and no interval that it has done",
          id.value()));
    }
    member.waits = true;
    member.ended = false;  // one that failed and was run again
    waiting_.insert({member.passed, id.value()});
  }

  void OnEnded(TrialId id) override {
    Member& member = members_[id.value()];
    Leave(id, &member);
    member.ended = true;
  }
  void OnPromoted(TrialId id) override {
    assert(members_[id.value()].waits);
    Leave(id, &members_[id.value()]);
  }

  // The whole population starts first, then the one that is furthest behind goes on; of
  // those one that is to be replaced, while whose copy takes its place is not finished.
  std::optional<Promotion> NextPromotion(bool more) const override {
    if (more || waiting_.empty()) return std::nullopt;
    const auto [passed, first] = *waiting_.begin();
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      if (at->first != passed) break;
      if (const auto parent = ParentFor(at->second)) {
        return Promotion{TrialId(at->second), parent, next_order_};
      }
    }
    return Promotion{TrialId(first), std::nullopt, next_order_};
  }

  std::vector<RungRow> OnReplaced(TrialId trial,
                                  TrialId child,
                                  TrialId parent,
                                  int64_t time) override {
    assert(members_[trial.value()].ended && !members_.contains(child.value()));
    const int64_t at = std::min(time, options_.max_t - 1);
    const int64_t rung = at / options_.pbt.perturbation_interval - first_;
    if (rung < 0) return {};
    RungRow row = NextEntry(child, rung, members_[parent.value()].value, time);
    row.late = true;
    Book(row, &members_[child.value()]);
    return {row};
  }

  std::string WaitsFor(TrialId id) const override {
    const auto at = members_.find(id.value());
    if (at == members_.end() || !at->second.waits) return "";
    const auto& rung = rungs_.at(at->second.passed - 1);
    const int64_t rank = std::distance(rung.begin(), rung.find(at->second.entry));
    return fmt::format(
        "waits at {} of {}: number {} of {} there; those furthest "
        "behind go on first",
        LevelOf(at->second.passed - 1),
        options_.max_t,
        rank + 1,
        rung.size());
  }

 private:
  // The end of the interval that closes with it, before max_t or not.
  int64_t LevelOf(int64_t rung) const {
    return (first_ + rung) * options_.pbt.perturbation_interval;
  }

  // How many are the best, and how many the worst, of n: counted in millionths, since
  // 30 x 0.1 is not 3.
  int64_t Quantile(int64_t n) const {
    const auto millionths =
        static_cast<int64_t>(std::llround(options_.pbt.quantile_fraction * 1e6));
    return std::min((n * millionths + 999'999) / 1'000'000, n / 2);
  }

  // Whose copy takes the trial's place, where it is among the worst.
  std::optional<TrialId> ParentFor(int64_t trial) const {
    const Member& own = members_.at(trial);
    const std::set<RungEntry>& rung = rungs_.at(own.passed - 1);
    const auto n = std::ssize(rung);
    const int64_t quantile = Quantile(n);
    const int64_t rank = std::distance(rung.begin(), rung.find(own.entry));
    if (rank < n - quantile) return std::nullopt;
    std::vector<int64_t> parents;
    auto best = rung.begin();
    for (int64_t i = 0; i < quantile; ++i, ++best) {
      const bool good = best->key < own.entry.key && !members_.at(best->trial).ended;
      if (good) parents.push_back(best->trial);
    }
    if (parents.empty()) return std::nullopt;
    Rng rng(seed_, TrialId(trial), "exploit");
    return TrialId(parents[rng.Below(parents.size())]);
  }

  RungRow NextEntry(TrialId id, int64_t rung, const Objective& value, int64_t time) {
    RungRow row;
    row.trial = id;
    row.rung = static_cast<int32_t>(rung);
    row.level = LevelOf(rung);
    row.value = value;
    row.time = time;
    row.order = next_order_++;
    return row;
  }

  void Book(const RungRow& row, Member* member) {
    member->passed = row.rung + 1;
    member->value = row.value;
    if (row.late) return;
    const double key = !row.value.finite() ? std::numeric_limits<double>::infinity()
                       : goal_ == Goal::kMinimize ? row.value.value
                                                  : -row.value.value;
    member->entry = {key, row.order, row.trial.value()};
    member->has_entry = true;
    rungs_[row.rung].insert(member->entry);
  }

  void Leave(TrialId id, Member* member) {
    if (!member->waits) return;
    member->waits = false;
    waiting_.erase({member->passed, id.value()});
  }

  const SchedulerOptions options_;
  const Goal goal_;
  const uint64_t seed_;
  int64_t first_ = 1;  // rung 0 is the end of this interval, from 1
  std::map<int64_t, Member> members_;
  std::map<int64_t, std::set<RungEntry>> rungs_;
  std::set<std::pair<int64_t, int64_t>> waiting_;  // passed rungs, trial
  int64_t next_order_ = 0;
};

}  // namespace

std::unique_ptr<Scheduler> MakePbt(const SchedulerOptions& options,
                                   Goal goal,
                                   uint64_t seed) {
  return std::make_unique<Pbt>(options, goal, seed);
}

}  // namespace hyperopt::internal

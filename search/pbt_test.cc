#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "search/scheduler.h"
#include "trial/errors.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

SchedulerOptions Every(int64_t interval, int64_t max_t) {
  SchedulerOptions options;
  options.kind = SchedulerKind::kPbt;
  options.max_t = max_t;
  options.pbt.perturbation_interval = interval;
  return options;
}

// A population, whose trials are told of as a controller does.
class Population {
 public:
  explicit Population(const SchedulerOptions& options)
      : pbt_(MakeScheduler(options, Goal::kMinimize, 5)) {}

  // Runs to `time` and waits.
  void Reach(int64_t trial, int64_t time, double value) {
    const Verdict verdict =
        pbt_->OnMeasurement(TrialId(trial), time, Objective::Of(value));
    CHECK(verdict.decision == Decision::kPause);
    pbt_->OnPaused(TrialId(trial));
  }
  std::optional<Promotion> Next() const { return pbt_->NextPromotion(false); }
  // The next one goes on; whose copy takes its place, if anyone's.
  std::optional<TrialId> GoOn(int64_t trial) {
    const auto next = Next();
    REQUIRE(next);
    CHECK(next->trial == TrialId(trial));
    if (!next->parent) pbt_->OnPromoted(next->trial);
    return next->parent;
  }
  Scheduler& scheduler() { return *pbt_; }

 private:
  std::unique_ptr<Scheduler> pbt_;
};

TEST_SUITE_BEGIN("pbt");

TEST_CASE("budgets are the ends of intervals, the first after the burn-in") {
  SchedulerOptions options = Every(4, 10);
  const auto plain = MakeScheduler(options, Goal::kMinimize, 1);
  CHECK(plain->Budget(TrialId(0)) == 4);
  CHECK(plain->OnMeasurement(TrialId(0), 3, Objective::Of(1)).decision ==
        Decision::kContinue);
  CHECK(plain->OnMeasurement(TrialId(0), 4, Objective::Of(1)).decision ==
        Decision::kPause);
  CHECK(plain->Budget(TrialId(0)) == 8);
  // One that trains on is entered where it is: 9 is in the interval that 8 begins.
  const Verdict late = plain->OnMeasurement(TrialId(1), 9, Objective::Of(1));
  REQUIRE(late.entries.size() == 1);
  CHECK(late.entries.front().level == 8);
  CHECK(plain->Budget(TrialId(1)) == 10);
  CHECK(plain->OnMeasurement(TrialId(1), 10, Objective::Of(1)).entries.empty());
  options.pbt.burn_in_period = 5;
  CHECK(MakeScheduler(options, Goal::kMinimize, 1)->Budget(TrialId(0)) == 8);
  options.pbt.burn_in_period = 11;
  CHECK(MakeScheduler(options, Goal::kMinimize, 1)->Budget(TrialId(0)) == 10);
}

TEST_CASE("the worst gives its place to a copy of the best, the others go on") {
  Population four(Every(2, 9));
  for (int64_t trial = 0; trial < 4; ++trial) {
    CHECK_FALSE(four.scheduler().NextPromotion(true));  // the others start first
    four.Reach(trial, 2, static_cast<double>(trial));
  }
  // Before the best goes on, and may be finished.
  CHECK(four.GoOn(3) == TrialId(0));
  four.scheduler().OnEnded(TrialId(3));
  const auto entries =
      four.scheduler().OnReplaced(TrialId(3), TrialId(4), TrialId(0), 2);
  REQUIRE(entries.size() == 1);
  CHECK(entries.front().late);
  CHECK(four.scheduler().Budget(TrialId(4)) == 4);
  CHECK_FALSE(four.GoOn(0));
  CHECK_FALSE(four.GoOn(1));
  CHECK_FALSE(four.GoOn(2));
  // The copy counts where it has run itself, and only there.
  four.Reach(4, 4, 7);
  four.Reach(1, 4, 5);
  CHECK(four.GoOn(4) == TrialId(1));
}

TEST_CASE("who is furthest behind goes on first, of those the first") {
  Population three(Every(1, 9));
  three.Reach(2, 1, 1);
  three.Reach(1, 1, 1);
  CHECK_FALSE(three.GoOn(1));
  three.Reach(1, 2, 1);
  three.Reach(0, 1, 1);
  CHECK_FALSE(three.GoOn(0));
  CHECK_FALSE(three.GoOn(2));
  CHECK_FALSE(three.GoOn(1));
  CHECK_FALSE(three.Next());
}

TEST_CASE(
    "equals are not copied, numbers replace what is none, finished ones are gone") {
  Population equal(Every(1, 9));
  for (int64_t trial = 0; trial < 4; ++trial) equal.Reach(trial, 1, 1);
  for (int64_t trial = 0; trial < 4; ++trial) CHECK_FALSE(equal.GoOn(trial));

  Population nan(Every(1, 9));
  nan.Reach(0, 1, std::nan(""));
  nan.Reach(1, 1, 8);
  CHECK(nan.GoOn(0) == TrialId(1));

  Population gone(Every(1, 9));
  gone.Reach(0, 1, 3);
  gone.Reach(1, 1, 1);
  gone.scheduler().OnEnded(TrialId(1));
  CHECK_FALSE(gone.GoOn(0));
  CHECK_FALSE(gone.Next());
}

TEST_CASE("the quantile is counted, not rounded") {
  SchedulerOptions options = Every(1, 9);
  options.pbt.quantile_fraction = 0.1;
  Population thirty(options);
  for (int64_t trial = 0; trial < 30; ++trial) {
    thirty.Reach(trial, 1, static_cast<double>(trial));
  }
  const auto parent = thirty.GoOn(27);  // 30 x 0.1 is 3
  REQUIRE(parent);
  CHECK(parent->value() < 3);
  options.pbt.quantile_fraction = 0;
  Population none(options);
  none.Reach(0, 1, 5);
  none.Reach(1, 1, 1);
  CHECK_FALSE(none.GoOn(0));
}

// A random sweep; what is told to each scheduler in turn must be answered alike.
TEST_CASE("stopped after each event and restored, it decides the same") {
  for (int64_t number = 0; number < 300; ++number) {
    CAPTURE(number);
    Rng rng(3, TrialId(number), "pbt");
    SchedulerOptions options = Every(1 + static_cast<int64_t>(rng.Below(3)), 12);
    options.pbt.quantile_fraction = rng.Uniform() / 2;
    enum State { kRuns, kWaits, kEnded };
    std::map<int64_t, State> states;
    std::map<int64_t, int64_t> times;
    for (int64_t trial = 0; trial < 6; ++trial) states[trial] = kRuns;
    std::vector<RungRow> record;
    for (int step = 0; step < 120; ++step) {
      const auto a = MakeScheduler(options, Goal::kMaximize, 9);
      a->Restore(record);
      for (const auto& [trial, state] : states) {
        if (state == kWaits) a->OnPaused(TrialId(trial));
        if (state == kEnded) a->OnEnded(TrialId(trial));
      }
      const auto next = a->NextPromotion(false);
      if (next && rng.Below(2) == 0) {
        const int64_t trial = next->trial.value();
        if (!next->parent) {
          states[trial] = kRuns;
          continue;
        }
        CHECK(states.at(next->parent->value()) != kEnded);
        const auto child = std::ssize(states);
        states[trial] = kEnded;
        states[child] = kRuns;
        times[child] = times[trial];
        a->OnEnded(next->trial);
        for (const RungRow& row :
             a->OnReplaced(next->trial, TrialId(child), *next->parent, times[child])) {
          record.push_back(row);
        }
        CHECK(a->Budget(TrialId(child)) > times[child]);
        continue;
      }
      const auto trial = static_cast<int64_t>(rng.Below(states.size()));
      if (states[trial] != kRuns) continue;
      const int64_t time = times[trial] += 1 + static_cast<int64_t>(rng.Below(2));
      const Verdict verdict =
          a->OnMeasurement(TrialId(trial), time, Objective::Of(rng.Uniform()));
      for (const RungRow& row : verdict.entries) record.push_back(row);
      if (verdict.decision == Decision::kPause) states[trial] = kWaits;
      if (time >= 12) states[trial] = kEnded;
    }
    for (size_t i = 0; i < record.size(); ++i) {
      CHECK(record[i].order == static_cast<int64_t>(i));
    }
  }
}

TEST_CASE("a record of other options is refused") {
  RungRow row;
  row.level = 3;
  CHECK_THROWS_AS(MakeScheduler(Every(2, 9), Goal::kMinimize, 1)
                      ->Restore(std::vector<RungRow>{row}),
                  EnvironmentError);
  CHECK_THROWS_AS(MakeScheduler(Every(2, 9), Goal::kMinimize, 1)->OnPaused(TrialId(0)),
                  EnvironmentError);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

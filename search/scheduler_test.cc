#include "search/scheduler.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>

#include "trial/errors.h"

namespace hyperopt {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

SchedulerOptions Asha(int64_t grace, int64_t factor, int64_t max_t) {
  SchedulerOptions options;
  options.kind = SchedulerKind::kAsha;
  options.grace_period = grace;
  options.reduction_factor = factor;
  options.max_t = max_t;
  return options;
}

// A scheduler whose reports are short to write. Minimizes.
class Sweep {
 public:
  explicit Sweep(const SchedulerOptions& options, Goal goal = Goal::kMinimize)
      : scheduler_(MakeScheduler(options, goal, 1)) {}

  Verdict Report(int64_t trial, int64_t time, double value) {
    return scheduler_->OnMeasurement(TrialId(trial), time, Objective::Of(value));
  }
  bool Continues(int64_t trial, int64_t time, double value) {
    return Report(trial, time, value).decision == Decision::kContinue;
  }
  std::vector<RungRow> Fail(int64_t trial) {
    return scheduler_->OnFailed(TrialId(trial));
  }
  Scheduler& scheduler() { return *scheduler_; }

 private:
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_SUITE_BEGIN("scheduler");

TEST_CASE("rung levels are exact where a logarithm loses one") {
  using Levels = std::vector<int64_t>;
  CHECK(RungLevels(Asha(1, 3, 243)) == Levels{1, 3, 9, 27, 81});
  CHECK(RungLevels(Asha(1, 10, 1000)) == Levels{1, 10, 100});
  CHECK(RungLevels(Asha(1, 3, 81)) == Levels{1, 3, 9, 27});
  CHECK(RungLevels(Asha(1, 3, 82)) == Levels{1, 3, 9, 27, 81});
  CHECK(RungLevels(Asha(5, 4, 100)) == Levels{5, 20, 80});
  CHECK(RungLevels(Asha(7, 2, 7)).empty());
  CHECK(RungLevels(Asha(1, 3, 81), 1) == Levels{3, 9, 27});
  CHECK(RungLevels(Asha(1, 3, 81), 4).empty());
  CHECK(RungLevels(Asha(1, 3, 81), 40).empty());
  const int64_t most = std::numeric_limits<int64_t>::max();
  CHECK(RungLevels(Asha(1, 2, most)).size() == 63);
  CHECK(RungLevels(Asha(1, most, most)) == Levels{1});
  CHECK(RungLevels(Asha(most - 1, 2, most)) == Levels{most - 1});
}

TEST_CASE("fifo stops nobody and records nothing") {
  Sweep sweep(SchedulerOptions{});
  for (const double value : {1.0, 1e9, kNan, kInf}) {
    const Verdict verdict = sweep.Report(0, 1, value);
    CHECK(verdict.decision == Decision::kContinue);
    CHECK(verdict.entries.empty());
  }
  CHECK(sweep.Fail(0).empty());
  CHECK(!sweep.scheduler().max_time());
}

TEST_CASE("the first arrival goes on, and then the best of every reduction_factor") {
  Sweep sweep(Asha(1, 3, 9));
  CHECK(sweep.scheduler().max_time() == 9);
  CHECK(sweep.Continues(0, 1, 0.5));
  CHECK_FALSE(sweep.Continues(1, 1, 0.6));  // 2 of 2, and one may go on
  CHECK(sweep.Continues(2, 1, 0.4));
  CHECK_FALSE(sweep.Continues(3, 1, 0.5));  // n = 4: one
  CHECK_FALSE(sweep.Continues(4, 1, 0.45));
  CHECK(sweep.Continues(5, 1, 0.45));  // n = 6: two; as good as the second
  CHECK_FALSE(sweep.Continues(6, 1, 0.46));
}

TEST_CASE("maximize is minimize of the negative") {
  Sweep sweep(Asha(1, 2, 8), Goal::kMaximize);
  CHECK(sweep.Continues(0, 1, 0.5));
  CHECK_FALSE(sweep.Continues(1, 1, 0.4));
  CHECK(sweep.Continues(2, 1, 0.6));
  CHECK_FALSE(sweep.Continues(3, 1, kInf));
}

TEST_CASE("ties go on") {
  Sweep sweep(Asha(1, 4, 8));
  for (int trial = 0; trial < 20; ++trial) CHECK(sweep.Continues(trial, 1, 0.25));
  CHECK(sweep.Continues(20, 1, -0.0));
  CHECK(sweep.Continues(21, 1, 0.0));
}

TEST_CASE("what is not finite never goes past a rung and counts in n") {
  for (const double bad : {kNan, kInf, -kInf}) {
    CAPTURE(bad);
    Sweep sweep(Asha(1, 2, 8));
    const Verdict first = sweep.Report(0, 1, bad);
    CHECK(first.decision == Decision::kStop);
    REQUIRE(first.entries.size() == 1);
    CHECK(first.entries[0].stopped);
    CHECK(first.entries[0].value == Objective::Of(bad));
    CHECK(sweep.Continues(1, 1, 0.5));  // one NaN stops nobody else
    CHECK_FALSE(sweep.Continues(2, 1, bad));
    CHECK(sweep.Continues(3, 1, 0.9));  // n = 4: two, thanks to the NaNs
  }
}

TEST_CASE("a report without the objective is no report") {
  Sweep sweep(Asha(1, 4, 8));
  CHECK(sweep.Continues(0, 1, 0.1));
  const Verdict none =
      sweep.scheduler().OnMeasurement(TrialId(1), 1, Objective::Missing());
  CHECK(none.decision == Decision::kContinue);
  CHECK(none.entries.empty());
  // The next one that has it is the first at or past the rung.
  const Verdict next = sweep.Report(1, 2, 0.9);
  CHECK(next.decision == Decision::kStop);
  CHECK(next.entries.back().level == 1);
}

TEST_CASE("an entry holds all that the record wants, in order of arrival") {
  Sweep sweep(Asha(1, 3, 27));
  sweep.Report(4, 1, 0.5);
  const Verdict verdict = sweep.Report(7, 4, 0.75);
  REQUIRE(verdict.entries.size() == 2);
  const RungRow& low = verdict.entries[0];
  CHECK(low.trial == TrialId(7));
  CHECK(low.rung == 0);
  CHECK(low.level == 1);
  CHECK(low.late);
  CHECK_FALSE(low.stopped);
  CHECK(low.order == 1);
  const RungRow& high = verdict.entries[1];
  CHECK(high.rung == 1);
  CHECK(high.level == 3);
  CHECK(high.time == 4);
  CHECK(high.value == Objective::Of(0.75));
  CHECK_FALSE(high.late);
  CHECK(high.order == 2);
}

TEST_CASE("a jump is judged at the highest rung only, and late values move no cutoff") {
  Sweep sweep(Asha(1, 2, 16));
  CHECK(sweep.Continues(0, 1, 0.5));
  // 0.9 would be stopped at rung 1 (0.5 stands there); at 8 it is the first.
  CHECK(sweep.Continues(1, 8, 0.9));
  // Were the late 0.01 in the lowest rung, nobody could pass it any more.
  CHECK(sweep.Continues(2, 4, 0.01));
  CHECK(sweep.Continues(3, 1, 0.4));
  // And it is not back-filled: the rung that was jumped stays passed.
  CHECK(sweep.Report(2, 5, 0.02).entries.empty());
}

TEST_CASE("a time that is not past the earlier ones is not judged") {
  Sweep sweep(Asha(1, 2, 8));
  CHECK(sweep.Continues(0, 2, 0.5));
  for (const int64_t time : {0, 1, 2, -3, 3}) {
    CHECK(sweep.Report(0, time, 99).entries.empty());
    CHECK(sweep.Continues(0, time, 99));
  }
  // Sparse reports: the first at or past the rung is the value.
  CHECK(sweep.Report(0, 7, 0.3).entries.back().level == 4);
}

TEST_CASE("nobody is stopped at or past max_t") {
  Sweep sweep(Asha(1, 2, 4));
  CHECK(sweep.Continues(0, 2, 0.1));
  const Verdict full = sweep.Report(1, 4, 0.9);
  CHECK(full.decision == Decision::kContinue);
  REQUIRE(full.entries.size() == 2);
  CHECK_FALSE(full.entries.back().late);
  CHECK_FALSE(full.entries.back().stopped);
  CHECK(sweep.Continues(2, 100, kNan));
  Sweep none(Asha(4, 2, 4));
  CHECK(none.Report(0, 4, kNan).entries.empty());
}

TEST_CASE("words after a stop enter no rung") {
  Sweep sweep(Asha(1, 2, 8));
  CHECK(sweep.Continues(0, 1, 0.1));
  CHECK_FALSE(sweep.Continues(1, 1, 0.2));
  const Verdict later = sweep.Report(1, 2, 0.0);
  CHECK(later.decision == Decision::kStop);
  CHECK(later.entries.empty());
  CHECK(sweep.Fail(1).empty());
}

TEST_CASE("a failed trial is worst at its next rung, once") {
  Sweep sweep(Asha(1, 2, 8));
  CHECK(sweep.Continues(0, 1, 0.1));
  const std::vector<RungRow> entries = sweep.Fail(0);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].level == 2);
  CHECK(entries[0].time == 2);
  CHECK(entries[0].value.missing());
  CHECK_FALSE(entries[0].stopped);
  CHECK_FALSE(entries[0].late);
  CHECK(sweep.Fail(0).empty());
  CHECK(sweep.Continues(1, 2, 0.5));
  CHECK_FALSE(sweep.Continues(2, 2, 0.6));
  CHECK(sweep.Continues(3, 2, 0.5));
  // A rerun of it has that entry for ever and is judged from the rung after it on.
  CHECK(sweep.Report(0, 2, 0.2).entries.empty());
  const Verdict rerun = sweep.Report(0, 4, 0.2);
  CHECK(rerun.decision == Decision::kContinue);
  CHECK(rerun.entries.back().level == 4);
  CHECK(sweep.Fail(0).empty());  // no rung is left
}

TEST_CASE("brackets: Hyperband's sizes, by seed and trial alone") {
  SchedulerOptions options = Asha(1, 3, 81);
  options.brackets = 9;
  // M = 4 rungs: 5*81/5, 5*27/4, 5*9/3, 5*3/2, 5; no sixth bracket.
  CHECK(BracketWeights(options) == std::vector<uint64_t>{81, 34, 15, 8, 5});
  options.brackets = 2;
  CHECK(BracketWeights(options) == std::vector<uint64_t>{81, 34});
  std::map<int, int> counts;
  for (int64_t trial = 0; trial < 20'000; ++trial) {
    const int bracket = BracketOf(options, 7, TrialId(trial));
    CHECK(bracket == BracketOf(options, 7, TrialId(trial)));
    ++counts[bracket];
  }
  CHECK(counts.size() == 2);
  CHECK(counts[0] == doctest::Approx(20'000 * 81.0 / 115).epsilon(0.02));
  options.brackets = 1;
  CHECK(BracketOf(options, 7, TrialId(3)) == 0);
  // Nothing overflows at the edge of the numbers.
  SchedulerOptions wide = Asha(1, 2, std::numeric_limits<int64_t>::max());
  wide.brackets = 64;
  CHECK(BracketWeights(wide).size() == 64);
  CHECK(BracketOf(wide, 1, TrialId(1)) < 64);
}

TEST_CASE("a record of other options is refused in words") {
  RungRow row;
  row.level = 1;
  row.value = Objective::Of(1);
  const auto restore = [](std::vector<RungRow> rows) {
    MakeScheduler(Asha(1, 3, 27), Goal::kMinimize, 1)->Restore(rows);
  };
  CHECK_NOTHROW(restore({row}));
  CHECK_THROWS_AS(restore({row, row}), EnvironmentError);
  for (const auto& spoil :
       std::vector<void (*)(RungRow&)>{[](RungRow& r) { r.level = 2; },
                                       [](RungRow& r) { r.rung = 1; },
                                       [](RungRow& r) { r.rung = -1; },
                                       [](RungRow& r) { r.bracket = 1; },
                                       [](RungRow& r) { r.bracket = -1; }}) {
    RungRow bad = row;
    spoil(bad);
    CHECK_THROWS_AS(restore({bad}), EnvironmentError);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

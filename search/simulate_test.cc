#include "search/simulate.h"

#include <doctest/doctest.h>

namespace hyperopt {
namespace {

KnownCurve Curve(int64_t trial, std::vector<double> values, double second = 1) {
  KnownCurve curve;
  curve.trial = TrialId(trial);
  for (const double value : values) {
    const int64_t time = std::ssize(curve.points) + 1;
    curve.points.push_back(
        {time, second * static_cast<double>(time), Objective::Of(value)});
  }
  return curve;
}

SearchConfig Config(SchedulerKind kind = SchedulerKind::kFifo) {
  SearchConfig config;
  config.scheduler.kind = kind;
  config.scheduler.max_t = 4;
  config.scheduler.reduction_factor = 2;
  return config;
}

TEST_SUITE_BEGIN("simulate");

TEST_CASE("without a scheduler a sweep is as it was") {
  const std::vector<KnownCurve> curves = {
      Curve(0, {3, 2, 1}), Curve(2, {5, 0.5}), Curve(5, {4})};
  const SimulatedSweep one = Simulate(curves, Config(), 1);
  CHECK(one.reports == 6);
  CHECK(one.time == 6);
  CHECK(one.trial_s == 6);
  CHECK(one.wall_s == 6);
  CHECK(one.ended_early == 0);
  CHECK(one.best == TrialId(2));
  CHECK(one.value == Objective::Of(0.5));
  CHECK(Simulate(curves, Config(), 2).wall_s == 3);
  CHECK(Simulate(curves, Config(), 9).wall_s == 3);
}

TEST_CASE("asha stops the worse ones in the order in which reports come") {
  std::vector<KnownCurve> curves = {Curve(0, {1, 1, 1, 1, 1}),
                                    Curve(1, {2, 2, 2, 2, 2}),
                                    Curve(2, {0.5, 0.5, 0.5, 0.5, 0.5})};
  const SimulatedSweep sweep = Simulate(curves, Config(SchedulerKind::kAsha), 1);
  CHECK(sweep.time == 4 + 1 + 4);  // to max_t, at the first rung, to max_t
  CHECK(sweep.ended_early == 3);
  CHECK(sweep.best == TrialId(2));
  // The faster one is the first at the rung, so the slower one is stopped.
  curves = {Curve(0, {1, 1, 1, 1}, 10), Curve(1, {0.5, 0.5, 0.5, 0.5}, 1)};
  CHECK(Simulate(curves, Config(SchedulerKind::kAsha), 2).time == 1 + 4);
  CHECK(Simulate(curves, Config(SchedulerKind::kAsha), 1).time == 4 + 4);
}

TEST_CASE("what was cut short is named where it would have gone on") {
  std::vector<KnownCurve> curves = {Curve(0, {1, 1, 1, 1}), Curve(1, {2})};
  curves[1].cut_short = true;
  const SimulatedSweep all = Simulate(curves, Config(), 1);
  CHECK(all.beyond == std::vector{TrialId(1)});
  CHECK(Simulate(curves, Config(SchedulerKind::kAsha), 1).beyond.empty());
}

TEST_CASE("a failed trial is worst at its next rung") {
  SearchConfig config = Config(SchedulerKind::kAsha);
  config.scheduler.max_t = 8;
  std::vector<KnownCurve> curves = {Curve(0, {1}), Curve(1, {2}), Curve(2, {3})};
  for (KnownCurve& curve : curves) curve.failed = true;
  curves.push_back(Curve(3, {0.5, 0.5}));
  const SimulatedSweep sweep = Simulate(curves, config, 1);
  CHECK(sweep.reports == 5);
  CHECK(sweep.best == TrialId(3));
}

TEST_CASE("the last value of a trial counts where the search file says so") {
  SearchConfig config = Config();
  config.value = ValueRule::kLast;
  std::vector<KnownCurve> curves = {
      Curve(0, {0.1, 5}), Curve(1, {4, 4}), Curve(2, {1, 1})};
  curves[2].failed = true;
  const SimulatedSweep sweep = Simulate(curves, config, 1);
  CHECK(sweep.best == TrialId(1));
  CHECK(sweep.value == Objective::Of(4));
}

TEST_CASE("curves of nothing, and of trials that never reported") {
  CHECK(Simulate({}, Config(), 3).reports == 0);
  std::vector<KnownCurve> curves = {Curve(0, {}), Curve(1, {1})};
  curves[0].failed = true;
  const SimulatedSweep sweep = Simulate(curves, Config(SchedulerKind::kAsha), 1);
  CHECK(sweep.reports == 1);
  CHECK(sweep.best == TrialId(1));
}

TEST_CASE("without seconds reports come at their times") {
  const std::vector<KnownCurve> curves = {Curve(0, {0.5, 0.5, 0.5, 0.5}, 0),
                                          Curve(1, {1, 1, 1, 1}, 0)};
  const SimulatedSweep sweep = Simulate(curves, Config(SchedulerKind::kAsha), 2);
  CHECK(sweep.trial_s == 0);
  CHECK(sweep.wall_s == 4);
  CHECK(sweep.time == 4 + 1);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

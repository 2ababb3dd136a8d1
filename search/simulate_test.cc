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

TEST_CASE(
    "promotion: what waits goes on from where it stood, and nothing is done twice") {
  SearchConfig config = Config(SchedulerKind::kAsha);
  config.scheduler.promotion = true;
  config.scheduler.max_t = 4;
  std::vector<KnownCurve> curves;
  for (int64_t i = 0; i < 4; ++i) {
    const auto loss = static_cast<double>(4 - i);
    curves.push_back(Curve(i, {loss, loss, loss, loss}));
  }
  // Rungs 1 and 2. Each is the best when it comes to the first one: from the second on
  // it goes to the second rung at once, and from the third on to its end.
  const SimulatedSweep sweep = Simulate(curves, config, 1);
  CHECK(sweep.best == TrialId(3));
  CHECK(sweep.time == 1 + 2 + 4 + 4);
  CHECK(sweep.reports == 11);
  CHECK(sweep.wall_s == 11);
  CHECK(sweep.ended_early == 2);
  CHECK(sweep.beyond.empty());
  // A curve that ends at its rung has nothing to go on with.
  curves = {Curve(0, {1}), Curve(1, {2})};
  curves[0].cut_short = true;
  CHECK(Simulate(curves, config, 1).beyond == std::vector{TrialId(0)});
}

namespace {

class Backwards final : public StartOrder {
 public:
  explicit Backwards(size_t count) : left_(count) {}
  bool more() const override { return left_ > 0; }
  std::optional<size_t> Next() override {
    return left_ > 0 ? std::optional(--left_) : std::nullopt;
  }
  void Told(size_t curve, const SimulatedEnd& end) override {
    told.emplace_back(curve, end);
  }
  std::vector<std::pair<size_t, SimulatedEnd>> told;

 private:
  size_t left_;
};

}  // namespace

TEST_CASE("an order of its own is told what came of its trials") {
  std::vector<KnownCurve> curves = {Curve(4, {3, 1}), Curve(7, {2, 5}), Curve(9, {6})};
  curves[2].failed = true;
  Backwards order(3);
  const SimulatedSweep sweep = Simulate(curves, Config(), 1, &order);
  CHECK(sweep.order == std::vector{TrialId(9), TrialId(7), TrialId(4)});
  REQUIRE(sweep.values.size() == 3);
  CHECK(sweep.values[0].missing());
  CHECK(sweep.values[1] == Objective::Of(2));
  CHECK(sweep.values[2] == Objective::Of(1));
  REQUIRE(order.told.size() == 3);
  CHECK(order.told[0].second.state == TrialState::kFailed);
  CHECK(order.told[1].first == 1);
  CHECK(order.told[1].second.state == TrialState::kCompleted);
  CHECK(order.told[1].second.time == 2);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

// How trials and sweeps end.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/simulation/sweeps.h"

namespace hyperopt::simulation {

TEST_CASE(
    "failures are told apart, retried as asked, and stop a sweep that can not work") {
  WorldOptions options = Basic(20, 5);
  SUBCASE("all fail: the first three stop it") {
    options.script = [](TrialId, Attempt) {
      WorldOptions::Script script;
      script.length_s = 0.5;
      script.exit_code = 3;
      return script;
    };
    World world(options);
    REQUIRE(world.Run(300));
    CHECK(world.end()->code == ExitCode::kNoTrialCompleted);
    CHECK(world.end()->why.find("exit code 3") != std::string::npos);
    CHECK(CountState(world, TrialState::kFailed) >= 3);
    CHECK(CountState(world, TrialState::kFailed) < 20);
  }
  SUBCASE("each tenth fails: the others complete") {
    options.script = [](TrialId trial, Attempt attempt) {
      WorldOptions::Script script = PlainScript(trial, attempt);
      if (trial.value() % 10 == 9) script.exit_code = 1;
      return script;
    };
    World world(options);
    REQUIRE(world.Run(300));
    CHECK(world.end()->code == ExitCode::kDone);
    CHECK(CountState(world, TrialState::kFailed) == 2);
    CHECK(CountState(world, TrialState::kCompleted) == 18);
    Audit(world, options);
  }
  SUBCASE("exit 0 without the metric is a failure that says what was seen") {
    options.config.metric = "accuracy";
    World world(options);
    REQUIRE(world.Run(300));
    CHECK(world.end()->code == ExitCode::kNoTrialCompleted);
    CHECK(world.end()->why.find("`accuracy` never came; seen: loss") !=
          std::string::npos);
  }
}

TEST_CASE("NaN is the worst value and never the best") {
  WorldOptions options = Basic(12, 2);
  options.script = [](TrialId trial, Attempt) {
    WorldOptions::Script script;
    const double nan = std::nan("");
    script.values = {
        nan, trial.value() % 3 == 0 ? nan : 1.0 / (1 + trial.value()), nan};
    script.length_s = 3.5;
    return script;
  };
  World world(options);
  REQUIRE(world.Run(300));
  CHECK(CountState(world, TrialState::kFailed) == 4);
  const RecordSnapshot record = *world.store().Load();
  for (const TrialRow& row : record.trials) {
    if (row.state == TrialState::kFailed) CHECK(row.reason == Reason::kNotFinite);
    if (row.state == TrialState::kCompleted) CHECK(row.best_step == 2);
    CHECK(row.last.kind == NumberKind::kNan);
  }
  CHECK(world.controller().incumbent() == TrialId(11));
}

TEST_CASE("an interrupted sweep puts its trials back and a second run finishes it") {
  WorldOptions options = Basic(30, 4);
  World world(options);
  CHECK_FALSE(world.Run(8));
  world.AskToStop(StopKind::kInterrupt);
  REQUIRE(world.Run(60));
  CHECK(world.end()->code == ExitCode::kInterrupted);
  CHECK(CountState(world, TrialState::kRunning) == 0);
  CHECK(CountState(world, TrialState::kPending) > 0);
  const RecordSnapshot record = *world.store().Load();
  for (const TrialRow& row : record.trials) {
    CHECK(row.failures == 0);
    CHECK(row.lost == 0);
  }
  world.RunAgain();
  REQUIRE(world.Run(600));
  CHECK(world.end()->code == ExitCode::kDone);
  CHECK(CountState(world, TrialState::kCompleted) == 30);
  Audit(world, options);
}

TEST_CASE("a minute in which everything stands still loses no lease and no attempt") {
  WorldOptions options = Basic(30, 9);
  options.config.executor.controller_lost_s = 20;
  World world(options);
  for (int i = 0; i < 4; ++i) {
    world.Run(3);
    world.StandStill(60);
  }
  REQUIRE(world.Run(600));
  CHECK(CountState(world, TrialState::kCompleted) == 30);
  CHECK(world.starts().size() == 30);
  Audit(world, options);
}

TEST_CASE("trials that ignore the stop signal are killed within the grace") {
  WorldOptions options = Basic(4, 4);
  options.script = [](TrialId, Attempt) {
    WorldOptions::Script script;
    script.length_s = 1e6;
    script.values = {1.0};
    script.ignores_stop = true;
    return script;
  };
  options.config.executor.time_budget_s = 10;
  World world(options);
  REQUIRE(world.Run(30));
  CHECK(CountState(world, TrialState::kStopped) == 4);
  const RecordSnapshot record = *world.store().Load();
  for (const TrialRow& row : record.trials) {
    CHECK(row.reason == Reason::kBudget);
  }
}

TEST_CASE("max_concurrent_trials is one gate, also after a restart") {
  WorldOptions options = Basic(30, 6);
  options.config.executor.max_concurrent_trials = 3;
  options.faults.crash_controller_every_s = 5;
  World world(options);  // CheckInvariants holds the gate after every turn
  REQUIRE(world.Run(3000));
  CHECK(CountState(world, TrialState::kCompleted) == 30);
  Audit(world, options);
}

}  // namespace hyperopt::simulation

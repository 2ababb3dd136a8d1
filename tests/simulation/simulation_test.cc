// Whole sweeps under faults: nothing is lost and nothing doubled.
#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "tests/simulation/sweeps.h"

namespace hyperopt::simulation {

TEST_CASE("an undisturbed sweep completes every trial in one attempt") {
  WorldOptions options = Basic(40, 1);
  World world(options);
  REQUIRE(world.Run(600));
  CHECK(world.end()->code == ExitCode::kDone);
  CHECK(CountState(world, TrialState::kCompleted) == 40);
  CHECK(world.starts().size() == 40);
  Audit(world, options);
}

TEST_CASE("lost, repeated and late frames lose and double nothing") {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Basic(40, seed);
    options.faults.drop = 0.15;
    options.faults.repeat = 0.15;
    options.faults.late = 0.1;
    World world(options);
    REQUIRE(world.Run(3000));
    CHECK(world.frames_lost() > 0);
    CHECK(CountState(world, TrialState::kCompleted) == 40);
    CHECK(world.starts().size() == 40);  // a lost frame is no lost attempt
    Audit(world, options);
  }
}

TEST_CASE(
    "a controller that dies again and again loses nothing and starts nothing twice") {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Basic(60, seed);
    options.faults.crash_controller_every_s = 6;
    options.faults.drop = 0.05;
    World world(options);
    REQUIRE(world.Run(3000));
    CHECK(world.controller_lives() > 1);
    CHECK(CountState(world, TrialState::kCompleted) == 60);
    CHECK(world.starts().size() == 60);
    Audit(world, options);
  }
}

TEST_CASE("an executor that dies hands its running trials to its next life") {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Basic(60, seed);
    options.faults.crash_executor_every_s = 8;
    options.faults.drop = 0.05;
    World world(options);
    REQUIRE(world.Run(3000));
    CHECK(CountState(world, TrialState::kCompleted) == 60);
    Audit(world, options);
  }
}

TEST_CASE("nodes that die cost attempts, never results") {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Basic(60, seed);
    options.executors = 3;
    options.faults.crash_node_every_s = 15;
    options.faults.crash_controller_every_s = 15;
    options.faults.drop = 0.05;
    options.faults.repeat = 0.05;
    World world(options);
    REQUIRE(world.Run(6000));
    CHECK(CountState(world, TrialState::kCompleted) == 60);
    Audit(world, options);
  }
}

TEST_CASE("a record that often can not be written delays and loses nothing") {
  WorldOptions options = Basic(40, 3);
  options.faults.commit_fails = 0.9;
  options.faults.crash_controller_every_s = 30;
  World world(options);
  REQUIRE(world.Run(6000));
  CHECK(CountState(world, TrialState::kCompleted) == 40);
  Audit(world, options);
}

TEST_CASE("ASHA under faults: every verdict is recorded once and kept") {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Basic(60, seed);
    options.config.scheduler.kind = SchedulerKind::kAsha;
    options.config.scheduler.max_t = 9;
    options.config.scheduler.grace_period = 1;
    options.config.scheduler.reduction_factor = 3;
    options.faults.crash_controller_every_s = 10;
    options.faults.crash_executor_every_s = 20;
    options.faults.drop = 0.1;
    World world(options);
    REQUIRE(world.Run(3000));
    const RecordSnapshot record = *world.store().Load();
    int64_t pruned = 0;
    for (const TrialRow& row : record.trials) {
      CHECK(IsFinished(row.state));
      CHECK(row.state != TrialState::kFailed);
      pruned += row.reason == Reason::kPruned;
    }
    CHECK(pruned > 0);
    std::set<std::pair<TrialId, int32_t>> seen;
    int64_t order = -1;
    for (const RungRow& rung : record.rungs) {
      CHECK(seen.emplace(rung.trial, rung.rung).second);
      CHECK(rung.order > order);
      order = rung.order;
    }
    Audit(world, options);
  }
}

SchedulerOptions CurveRule(SchedulerKind kind) {
  SchedulerOptions rule;
  rule.kind = kind;
  rule.max_t = 9;
  rule.reduction_factor = 3;
  rule.patience = 2;
  rule.min_delta = 0.2;
  return rule;
}

TEST_CASE("rules that look at curves under faults: a restart changes no verdict") {
  SchedulerOptions any = CurveRule(SchedulerKind::kAny);
  for (const SchedulerKind kind :
       {SchedulerKind::kAsha, SchedulerKind::kMedian, SchedulerKind::kPatience}) {
    any.of.push_back(CurveRule(kind));
  }
  int64_t pruned = 0;
  for (const SchedulerOptions& rule :
       {CurveRule(SchedulerKind::kMedian), CurveRule(SchedulerKind::kPatience), any}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(seed);
      WorldOptions options = Basic(60, seed);
      options.config.scheduler = rule;
      options.faults.crash_controller_every_s = 10;
      options.faults.crash_executor_every_s = 20;
      options.faults.drop = 0.1;
      World world(options);
      REQUIRE(world.Run(3000));
      const RecordSnapshot record = *world.store().Load();
      for (const TrialRow& row : record.trials) {
        CHECK(IsFinished(row.state));
        CHECK(row.state != TrialState::kFailed);
        pruned += row.reason == Reason::kPruned;
      }
      AuditRecord(world, options);
    }
  }
  CHECK(pruned > 100);
}

// Run once more by CTest with each deliberate defect: then it must fail.
TEST_CASE("audit: commits and sends torn apart, repeats, partitions") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Basic(60, seed);
    options.executors = 3;
    options.policy = LostPolicy::kFinish;
    options.config.executor.reassign_after_s = 15;
    options.script = [](TrialId trial, Attempt attempt) {
      WorldOptions::Script script = PlainScript(trial, attempt);
      // Attempts differ, so that words of the wrong one are noticed.
      for (double& value : script.values) value += attempt.value();
      return script;
    };
    options.faults.crash_at_commit = 0.02;
    options.faults.crash_after_commit = 0.02;
    options.faults.partition_every_s = 25;
    options.faults.repeat = 0.3;
    options.faults.drop = 0.05;
    World world(options);
    REQUIRE(world.Run(20000));
    CHECK(CountState(world, TrialState::kCompleted) == 60);
    Audit(world, options);
  }
}

TEST_CASE("executors that are gone for good: their trials run elsewhere") {
  WorldOptions options = Basic(20, 8);
  options.policy = LostPolicy::kFinish;
  options.faults.crash_node_every_s = 40;
  World world(options);
  REQUIRE(world.Run(6000));
  CHECK(CountState(world, TrialState::kCompleted) == 20);
  Audit(world, options);
}

}  // namespace hyperopt::simulation

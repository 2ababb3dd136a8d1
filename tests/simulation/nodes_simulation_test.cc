// Nodes that go silent, leave, break, or take others down with them; a second source.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/simulation/sweeps.h"

namespace hyperopt::simulation {
namespace {

// Two executors with a long lease: their trials go on while nobody hears of them.
WorldOptions Finishing(int64_t trials, double length_s) {
  WorldOptions options = Basic(trials, 1);
  options.policy = LostPolicy::kFinish;
  options.config.executor.reassign_after_s = 15;
  options.script = [length_s](TrialId trial, Attempt) {
    WorldOptions::Script script;
    script.values = {1.0 / static_cast<double>(trial.value() + 1)};
    script.length_s = length_s;
    return script;
  };
  return options;
}

const Member& MemberOf(const World& world, const std::string& name) {
  const auto& members = world.controller().fleet().members();
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const auto& item) {
        return item.second.name == name;
      });
  REQUIRE(found != members.end());
  return found->second;
}

}  // namespace

TEST_CASE("a silent node that returns full goes on with what it runs") {
  WorldOptions options = Finishing(8, 60);  // every slot of both nodes
  World world(options);
  CHECK_FALSE(world.Run(3));
  CHECK(CountState(world, TrialState::kRunning) == 8);
  world.Cut(0, 30);
  CHECK_FALSE(world.Run(25));
  CHECK(CountState(world, TrialState::kPending) == 4);  // no room elsewhere
  CHECK_FALSE(world.Run(15));
  CHECK(CountState(world, TrialState::kRunning) == 8);
  REQUIRE(world.Run(600));
  CHECK(CountState(world, TrialState::kCompleted) == 8);
  CHECK(world.starts().size() == 8);
  const RecordSnapshot record = *world.store().Load();
  for (const TrialRow& row : record.trials) {
    CHECK(row.attempt == Attempt(1));
    CHECK(row.lost == 0);
  }
  Audit(world, options);
}

TEST_CASE("what a silent node ran goes on elsewhere, and its own word is dropped") {
  WorldOptions options = Finishing(4, 60);
  options.executors = 3;
  options.config.executor.max_concurrent_trials = 4;
  // The first that comes gets them all: packing leaves whole nodes free.
  World world(options);
  CHECK_FALSE(world.Run(3));
  int silent = 0;
  while (MemberOf(world, "node" + std::to_string(silent)).runs.empty()) ++silent;
  const auto held = MemberOf(world, "node" + std::to_string(silent)).runs;
  world.Cut(silent, 40);
  REQUIRE(world.Run(600));
  CHECK(CountState(world, TrialState::kCompleted) == 4);
  for (const RunKey& key : held) {
    const TrialRow row =
        world.store().Load()->trials[static_cast<size_t>(key.trial.value())];
    CHECK(row.attempt == Attempt(2));
    CHECK(row.lost == 1);
  }
  Audit(world, options);
}

TEST_CASE("a node that is preempted gives its trials back, uncounted") {
  WorldOptions options = Finishing(12, 20);
  World world(options);
  CHECK_FALSE(world.Run(5));
  world.Quit(0);
  REQUIRE(world.Run(600));
  CHECK(CountState(world, TrialState::kCompleted) == 12);
  CHECK(world.starts().size() == 16);
  const RecordSnapshot record = *world.store().Load();
  for (const TrialRow& row : record.trials) {
    CHECK(row.failures == 0);
    CHECK(row.lost == 0);
  }
  Audit(world, options);
}

TEST_CASE("drain lets what runs end, kill does not wait for it") {
  WorldOptions options = Basic(30, 2);
  SUBCASE("drain") {
    World world(options);
    CHECK_FALSE(world.Run(3));
    world.AskToStop(StopKind::kDrain);
    REQUIRE(world.Run(60));
    CHECK(CountState(world, TrialState::kRunning) == 0);
    CHECK(CountState(world, TrialState::kCompleted) ==
          static_cast<int64_t>(world.starts().size()));
    Audit(world, options);
  }
  SUBCASE("kill") {
    options.config.executor.stop_grace_s = 1000;
    options.script = [](TrialId, Attempt) {
      WorldOptions::Script script;
      script.length_s = 1e6;
      script.ignores_stop = true;
      return script;
    };
    World world(options);
    CHECK_FALSE(world.Run(3));
    world.AskToStop(StopKind::kInterrupt);
    CHECK_FALSE(world.Run(60));
    world.AskToStop(StopKind::kKill);
    REQUIRE(world.Run(10));
    CHECK(world.end()->code == ExitCode::kInterrupted);
    CHECK(CountState(world, TrialState::kPending) == 8);
    AuditRecord(world, options);
  }
}

TEST_CASE("an executor that fails what others complete is put aside") {
  WorldOptions options = Basic(40, 3);
  // Until the first one completes elsewhere nobody knows whose fault it is.
  options.config.executor.max_failures_exit = 1000;
  options.broken_node = 0;
  World world(options);
  REQUIRE(world.Run(600));
  CHECK(world.end()->code == ExitCode::kDone);
  CHECK(CountState(world, TrialState::kCompleted) == 40);
  CHECK(MemberOf(world, "node0").put_aside);
  CHECK_FALSE(MemberOf(world, "node1").put_aside);
  Audit(world, options);
}

TEST_CASE(
    "a trial that takes its node down fails after max_lost, the others complete") {
  WorldOptions options = Basic(20, 4);
  options.config.executor.max_lost = 2;
  options.script = [](TrialId trial, Attempt attempt) {
    WorldOptions::Script script = PlainScript(trial, attempt);
    script.kills_node = trial.value() == 3;
    // The others are short, so that none shares the fate of this one too often.
    if (script.kills_node) script.length_s = 8;
    return script;
  };
  World world(options);
  REQUIRE(world.Run(3000));
  const RecordSnapshot record = *world.store().Load();
  const TrialRow& killer = record.trials[3];
  CHECK(killer.state == TrialState::kFailed);
  CHECK(killer.reason == Reason::kTooManyLost);
  CHECK(killer.attempt == Attempt(3));
  CHECK(CountState(world, TrialState::kCompleted) == 19);
  Audit(world, options);
}

TEST_CASE("a lost second source is read again before its trial ends") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Basic(20, seed);
    options.script = [](TrialId trial, Attempt attempt) {
      WorldOptions::Script script = PlainScript(trial, attempt);
      script.second_source = true;
      return script;
    };
    options.faults.drop_second = 0.6;
    options.faults.repeat = 0.1;
    options.faults.crash_executor_every_s = 15;
    World world(options);
    REQUIRE(world.Run(3000));
    CHECK(world.frames_lost() > 0);
    CHECK(CountState(world, TrialState::kCompleted) == 20);
    CHECK(world.starts().size() == 20);
    AuditRecord(world, options);
    for (int64_t id = 0; id < 20; ++id) {
      CAPTURE(id);
      const auto expected = options.script(TrialId(id), Attempt(1)).values.size();
      std::map<std::string, size_t> lines;
      for (const ReportRow& row : world.store().LoadReports(TrialId(id))) {
        ++lines[row.source.name];
      }
      CHECK(lines["report"] == expected);
      CHECK(lines["second"] == expected);
    }
  }
}

TEST_CASE("shares of devices are never oversubscribed, whatever dies") {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Basic(40, seed);
    options.resources.devices = {{"0"}, {"1"}};
    options.config.executor.resources.gpu_per_rank = Share::Micro(400'000);
    options.faults.crash_node_every_s = 20;
    options.faults.crash_controller_every_s = 10;
    options.faults.drop = 0.05;
    World world(options);  // CheckInvariants adds up the shares after every message
    REQUIRE(world.Run(6000));
    CHECK(CountState(world, TrialState::kCompleted) == 40);
    Audit(world, options);
  }
}

}  // namespace hyperopt::simulation

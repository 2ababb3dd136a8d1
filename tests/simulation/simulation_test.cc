#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "search/controller.h"
#include "tests/simulation/world.h"
#include "trial/rng.h"

namespace hyperopt::simulation {
namespace {

SearchConfig BasicConfig(int64_t trials) {
  SearchConfig config;
  config.name = "simulated";
  config.metric = "loss";
  config.command = {"train"};
  config.space = SearchSpace(
      {{"x", FloatDomain{0, 1, false, {}}}, {"n", IntDomain{1, 8, false, 1}}});
  config.sampler.num_samples = trials;
  config.executor.num_samples = trials;
  config.executor.stop_grace_s = 2;
  config.executor.controller_lost_s = 20;
  config.executor.reassign_after_s = 120;
  return config;
}

// Reports 1 .. n, one a second, that depend on the trial alone.
WorldOptions::Script PlainScript(TrialId trial, Attempt) {
  Rng rng(7, trial, "script");
  WorldOptions::Script script;
  const int reports = 1 + static_cast<int>(rng.Below(6));
  const double level = rng.Uniform();
  for (int i = 0; i < reports; ++i) script.values.push_back(level + 1.0 / (i + 1));
  script.length_s = reports + 0.5;
  return script;
}

WorldOptions Basic(int64_t trials, uint64_t seed) {
  WorldOptions options;
  options.config = BasicConfig(trials);
  options.resources.cpus = Share::Whole(4);
  options.script = PlainScript;
  options.seed = seed;
  return options;
}

// Compares the record with what the scripts say: each result once, none lost.
void Audit(World& world, const WorldOptions& options) {
  const RecordSnapshot record = *world.store().Load();
  const auto sampler = MakeSampler(options.config.space, options.config.sampler);
  for (const TrialRow& row : record.trials) {
    CAPTURE(row.id.value());
    const TrialId ids[] = {row.id};
    CHECK(world.store().LoadParams(ids)[0] == *sampler->Suggest(row.id, {}));
    int64_t with_metric = 0;
    std::map<int64_t, double> last_attempt;
    for (const ReportRow& report : world.store().LoadReports(row.id)) {
      ++with_metric;
      if (report.key.attempt != row.attempt) continue;
      CHECK(last_attempt.emplace(report.step, report.objective.value).second);
    }
    CHECK(row.reports == with_metric);
    if (row.state != TrialState::kCompleted) continue;
    const auto script = options.script(row.id, row.attempt);
    REQUIRE(last_attempt.size() == script.values.size());
    for (const auto& [step, value] : last_attempt) {
      CHECK(value == script.values[static_cast<size_t>(step - 1)]);
    }
  }
  for (const auto& [key, times] : world.starts()) CHECK(times == 1);
  CHECK(record.open_runs.empty());
}

int64_t CountState(World& world, TrialState state) {
  const RecordSnapshot record = *world.store().Load();
  return std::count_if(record.trials.begin(),
                       record.trials.end(),
                       [&](const auto& row) { return row.state == state; });
}

}  // namespace

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
  world.Interrupt();
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

// An executor is trusted with work, not with the controller's books.
TEST_CASE("whatever a peer says, the books stay true") {
  const SearchConfig config = BasicConfig(20);
  const auto sampler = MakeSampler(config.space, config.sampler);
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, TrialId(0), "hostile");
    const auto scheduler = MakeScheduler(config.scheduler, config.goal, 1);
    ControllerStart start;
    start.record.sweep.id = "0123456789abcdef";
    Now now{Time(Seconds(1000)), 1000};
    Controller controller(config, *sampler, *scheduler, std::move(start), now);
    const auto odd = [&]() -> int64_t {
      const int64_t values[] = {0, 1, 2, -1, 19, 20, INT64_MAX, INT64_MIN, 1000};
      return values[rng.Below(9)];
    };
    const auto key = [&] {
      return RunKey{TrialId(odd()),
                    RunId(static_cast<int32_t>(rng.Below(2))),
                    Attempt(static_cast<int32_t>(odd()))};
    };
    for (int i = 0; i < 200; ++i) {
      const std::string peer = "peer" + std::to_string(rng.Below(3));
      FromExecutor message;
      switch (rng.Below(4)) {
        case 0: {
          Hello hello;
          hello.name = "n" + std::to_string(rng.Below(3));
          hello.pid = static_cast<int32_t>(rng.Below(3));
          if (rng.Below(2) == 0) hello.id = ExecutorId(odd());
          hello.resources.cpus = Share::Whole(static_cast<int64_t>(rng.Below(5)));
          hello.holdings = {{key(), HoldState::kRunning, ""}};
          message = hello;
          break;
        }
        case 1:
          message = Heartbeat{
              ExecutorId(1 + static_cast<int64_t>(rng.Below(3))),
              odd(),
              odd(),
              {{key(), HoldState::kEnded, ""}, {key(), HoldState::kRunning, ""}}};
          break;
        case 2: {
          Measured measured;
          measured.id = ExecutorId(1 + static_cast<int64_t>(rng.Below(3)));
          measured.key = key();
          measured.upto.offset = odd();
          measured.from = odd();
          measured.upto.source.name = std::to_string(rng.Below(20));
          ReportLine line;
          line.end_offset = odd();
          if (rng.Below(2) == 0) line.step = odd();
          line.values["loss"] = rng.Uniform();
          measured.lines = {line, line};
          message = measured;
          break;
        }
        default: {
          Exited exited;
          exited.id = ExecutorId(1 + static_cast<int64_t>(rng.Below(3)));
          exited.key = key();
          exited.info.lost = rng.Below(2) == 0;
          exited.info.exit_code = static_cast<int32_t>(odd());
          exited.checkpoints = {odd()};
          message = exited;
        }
      }
      now.steady += Seconds(rng.Uniform() * 3);
      controller.Handle(PeerSaid{peer, message}, now);
      controller.CheckInvariants();
      controller.TakeTurn(now);
      controller.CheckInvariants();
    }
  }
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

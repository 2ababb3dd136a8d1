// Checkpoints: attempts go on from the newest, old ones go, the best one stays.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "tests/simulation/sweeps.h"

namespace hyperopt::simulation {
namespace {

// Eight steps with the best value at the third, a checkpoint each.
WorldOptions::Script WithCheckpoints(TrialId trial, Attempt) {
  WorldOptions::Script script;
  for (int step = 1; step <= 8; ++step) {
    script.values.push_back(static_cast<double>(trial.value()) + std::abs(step - 3));
  }
  script.length_s = 8.5;
  script.checkpoints = true;
  return script;
}

// The checkpoints that are left of a trial, of all its attempts.
std::set<int64_t> LeftOf(const World& world, TrialId id) {
  std::set<int64_t> left;
  for (const auto& [key, steps] : world.checkpoints()) {
    if (key.trial != id) continue;
    left.insert(steps.begin(), steps.end());
  }
  return left;
}

}  // namespace

TEST_CASE("of a trial's checkpoints the best and the last are kept, the rest go") {
  WorldOptions options = Basic(8, 1);
  options.script = WithCheckpoints;
  World world(options);
  REQUIRE(world.Run(600));
  world.RunAgain();  // the last acknowledgements
  world.Run(10);
  CHECK(world.resumed() == 0);
  for (int64_t id = 0; id < 8; ++id) {
    CAPTURE(id);
    CHECK(LeftOf(world, TrialId(id)) == std::set<int64_t>{3, 8});
  }
  Audit(world, options);
}

// The world throws where an attempt starts from a checkpoint that was pruned.
TEST_CASE("attempts that were lost go on from a checkpoint, no step is lost") {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Basic(30, seed);
    options.script = WithCheckpoints;
    options.faults.crash_node_every_s = 12;
    options.faults.crash_controller_every_s = 12;
    options.faults.drop = 0.05;
    World world(options);
    REQUIRE(world.Run(6000));
    CHECK(CountState(world, TrialState::kCompleted) == 30);
    CHECK(world.resumed() > 0);
    AuditRecord(world, options);
    const RecordSnapshot record = *world.store().Load();
    for (const TrialRow& row : record.trials) {
      CAPTURE(row.id.value());
      CHECK(row.best_step == 3);
      CHECK(row.last_step == 8);
      std::set<int64_t> steps;
      for (const ReportRow& report : world.store().LoadReports(row.id)) {
        steps.insert(report.step);
      }
      CHECK(steps == std::set<int64_t>{1, 2, 3, 4, 5, 6, 7, 8});
      const std::set<int64_t> left = LeftOf(world, row.id);
      CHECK(left.contains(3));
      CHECK(left.contains(8));
    }
  }
}

TEST_CASE("an interrupted trial goes on from where it was put back") {
  WorldOptions options = Basic(8, 2);
  options.script = WithCheckpoints;
  World world(options);
  CHECK_FALSE(world.Run(5));
  world.AskToStop(StopKind::kInterrupt);
  REQUIRE(world.Run(60));
  world.RunAgain();
  REQUIRE(world.Run(600));
  CHECK(world.resumed() == 8);
  const RecordSnapshot record = *world.store().Load();
  for (const TrialRow& row : record.trials) CHECK(row.reports == 8);
  AuditRecord(world, options);
}

}  // namespace hyperopt::simulation

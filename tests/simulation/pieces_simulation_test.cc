// Trials that run in pieces: promotion ASHA and population based training, with losses,
// restarts and trainers of every kind.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "search/recorded_pieces.h"
#include "tests/simulation/sweeps.h"

namespace hyperopt::simulation {
namespace {

constexpr int64_t kMaxTime = 9;

// Nine steps; how good is a matter of the trial.
WorldOptions::Script NineSteps(TrialId trial, Attempt) {
  Rng rng(11, trial, "script");
  WorldOptions::Script script;
  const double level = rng.Uniform();
  for (int64_t step = 1; step <= kMaxTime; ++step) {
    script.values.push_back(level + 1.0 / static_cast<double>(step));
  }
  script.length_s = kMaxTime + 0.9;
  script.checkpoints = true;
  return script;
}

// Some fail, some never save, some train on, one sees no numbers.
WorldOptions::Script OfEveryKind(TrialId trial, Attempt attempt) {
  WorldOptions::Script script = NineSteps(trial, attempt);
  const int64_t kind = trial.value() % 6;
  if (kind == 1) script.checkpoints = false;
  if (kind == 2) script.ignores_budget = true;
  if (kind == 3 && attempt.value() == 1) script.exit_code = 1;
  if (kind == 3 && attempt.value() == 1) script.length_s = 0.7;
  if (kind == 4) script.values.assign(kMaxTime, std::nan(""));
  return script;
}

WorldOptions Promotion(int64_t trials, uint64_t seed) {
  WorldOptions options = Basic(trials, seed);
  options.config.scheduler.kind = SchedulerKind::kAsha;
  options.config.scheduler.promotion = true;
  options.config.scheduler.max_t = kMaxTime;
  options.config.scheduler.reduction_factor = 3;
  options.config.executor.max_concurrent_trials = 5;
  options.config.executor.max_failures_exit = 1;
  options.script = NineSteps;
  return options;
}

WorldOptions Population(int64_t trials, uint64_t seed) {
  WorldOptions options = Promotion(trials, seed);
  options.config.scheduler = {};
  options.config.scheduler.kind = SchedulerKind::kPbt;
  options.config.scheduler.max_t = kMaxTime;
  options.config.scheduler.pbt.perturbation_interval = 2;
  return options;
}

void AddFaults(WorldOptions* options) {
  options->faults.crash_controller_every_s = 15;
  options->faults.crash_node_every_s = 40;
  options->faults.crash_executor_every_s = 30;
  options->faults.drop = 0.05;
  options->faults.repeat = 0.05;
  options->faults.late = 0.05;
  options->faults.commit_fails = 0.02;
  options->faults.crash_at_commit = 0.005;
  options->faults.crash_after_commit = 0.005;
}

// Each rung entry lets its trial go on once, and no launch is for more than the next
// rung, or for less than what is done.
void AuditPieces(World& world) {
  const RecordSnapshot record = *world.store().Load();
  std::map<TrialId, std::vector<const RungRow*>> entries;
  for (const RungRow& row : record.rungs) entries[row.trial].push_back(&row);
  std::map<TrialId, int64_t> used;
  for (const PieceEvent& piece : RecordedPieces(world.store())) {
    const bool goes = piece.kind == PieceEvent::Kind::kPromoted;
    if (!goes && piece.kind != PieceEvent::Kind::kReplaced) continue;
    const TrialId trial = goes ? piece.trial : *piece.replaced;
    CAPTURE(trial.value());
    int64_t newest = -1;
    for (const RungRow* row : entries[trial]) {
      if (row->order < piece.after) newest = row->order;
    }
    REQUIRE(newest >= 0);
    const auto [at, first] = used.try_emplace(trial, newest);
    CHECK((first || at->second < newest));
    at->second = newest;
  }
  std::map<TrialId, int64_t> before;
  for (const auto& [key, budget] : world.budgets()) {
    CAPTURE(key.trial.value());
    CHECK(budget <= kMaxTime);
    CHECK(budget >= before[key.trial]);
    before[key.trial] = budget;
  }
  for (const TrialRow& row : record.trials) {
    CHECK(IsFinished(row.state));
    for (const ReportRow& report : world.store().LoadReports(row.id)) {
      const auto budget = world.budgets().find(report.key);
      REQUIRE(budget != world.budgets().end());
      if (row.id.value() % 6 != 2) CHECK(report.step <= budget->second);
    }
  }
}

std::set<TrialId> PromotedFrom(World& world, int64_t level) {
  std::set<TrialId> promoted;
  for (const auto& [key, budget] : world.budgets()) {
    if (budget > level) promoted.insert(key.trial);
  }
  return promoted;
}

}  // namespace

TEST_CASE(
    "promotion: the best third goes on at each rung, the others wait for the end") {
  WorldOptions options = Promotion(27, 1);
  World world(options);
  REQUIRE(world.Run(2000));
  CHECK(world.end()->code == ExitCode::kDone);
  CHECK(CountState(world, TrialState::kCompleted) == 27);
  AuditRecord(world, options);
  AuditPieces(world);
  // At least the best third, and those that were among it for a while.
  const RecordSnapshot record = *world.store().Load();
  std::vector<std::pair<double, TrialId>> first;
  for (const RungRow& row : record.rungs) {
    if (row.rung == 0) first.emplace_back(row.value.value, row.trial);
  }
  REQUIRE(first.size() == 27);
  std::ranges::sort(first);
  const std::set<TrialId> promoted = PromotedFrom(world, 1);
  CHECK(promoted.size() >= 9);
  CHECK(promoted.size() < 20);
  for (size_t i = 0; i < 9; ++i) CHECK(promoted.contains(first[i].second));
  // Nothing is trained twice.
  for (const TrialRow& row : record.trials) CHECK(row.reports == row.last_step);
}

TEST_CASE("promotion with losses, restarts and trainers of every kind") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Promotion(30, seed);
    options.script = OfEveryKind;
    options.config.scheduler.brackets = 1 + static_cast<int64_t>(seed % 2);
    AddFaults(&options);
    World world(options);
    REQUIRE(world.Run(6000));
    CHECK(world.controller_lives() > 1);
    CHECK(CountState(world, TrialState::kPaused) == 0);
    CHECK(CountState(world, TrialState::kCompleted) >= 20);
    // NaN at a rung is the end.
    CHECK(CountState(world, TrialState::kStopped) >= 1);
    AuditRecord(world, options);
    AuditPieces(world);
  }
}

TEST_CASE("promotion: the time budget ends what waits as it stands") {
  WorldOptions options = Promotion(200, 3);
  options.config.executor.time_budget_s = 40;
  World world(options);
  REQUIRE(world.Run(300));
  CHECK(world.end()->code == ExitCode::kDone);
  CHECK(CountState(world, TrialState::kPaused) == 0);
  CHECK(CountState(world, TrialState::kCompleted) > 5);
  AuditRecord(world, options);
}

TEST_CASE("promotion: interrupted, those that wait still wait") {
  WorldOptions options = Promotion(30, 4);
  World world(options);
  CHECK_FALSE(world.Run(12));
  world.AskToStop(StopKind::kInterrupt);
  REQUIRE(world.Run(60));
  CHECK(world.end()->code == ExitCode::kInterrupted);
  CHECK(CountState(world, TrialState::kPaused) > 0);
  world.RunAgain();
  REQUIRE(world.Run(2000));
  CHECK(CountState(world, TrialState::kCompleted) == 30);
  AuditRecord(world, options);
  AuditPieces(world);
}

TEST_CASE("a population keeps its size, and every copy goes on from a checkpoint") {
  WorldOptions options = Population(8, 1);
  World world(options);
  REQUIRE(world.Run(2000));
  CHECK(CountState(world, TrialState::kCompleted) == 8);
  const RecordSnapshot record = *world.store().Load();
  const auto copies = std::ranges::count_if(
      record.trials, [](const TrialRow& row) { return row.parent.has_value(); });
  CHECK(copies > 0);
  CHECK(CountState(world, TrialState::kStopped) == copies);
  CHECK(std::ssize(record.trials) == 8 + copies);
  for (const TrialRow& row : record.trials) {
    if (row.parent) CHECK(!world.store().LoadRuns(row.id).front().resume_from.empty());
  }
  AuditRecord(world, options);
  AuditPieces(world);
}

TEST_CASE("a population with losses, restarts and trainers of every kind") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Population(12, seed);
    options.script = OfEveryKind;
    AddFaults(&options);
    World world(options);
    REQUIRE(world.Run(6000));
    CHECK(world.controller_lives() > 1);
    CHECK(CountState(world, TrialState::kPaused) == 0);
    AuditRecord(world, options);
    AuditPieces(world);
  }
}

TEST_CASE("without checkpoints nobody is copied, and all go on") {
  WorldOptions options = Population(6, 2);
  options.script = [](TrialId trial, Attempt attempt) {
    WorldOptions::Script script = NineSteps(trial, attempt);
    script.checkpoints = false;
    return script;
  };
  World world(options);
  REQUIRE(world.Run(2000));
  CHECK(CountState(world, TrialState::kCompleted) == 6);
  CHECK(world.store().Load()->trials.size() == 6);
  AuditRecord(world, options);
}

}  // namespace hyperopt::simulation

// Configurations that are run several times, with losses, restarts and failures.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "search/recorded_history.h"
#include "tests/simulation/sweeps.h"

namespace hyperopt::simulation {
namespace {

// How good is a matter of the trial, so that means differ from single results.
WorldOptions::Script Noisy(TrialId trial, Attempt) {
  Rng rng(13, trial, "noisy");
  WorldOptions::Script script;
  script.values = {2, rng.Uniform()};
  script.length_s = 1 + 3 * rng.Uniform();
  return script;
}

// Some fail, some see no numbers.
WorldOptions::Script OfEveryKind(TrialId trial, Attempt attempt) {
  WorldOptions::Script script = Noisy(trial, attempt);
  if (trial.value() % 7 == 3) script.exit_code = 1;
  if (trial.value() % 11 == 5) script.values = {std::nan("")};
  return script;
}

WorldOptions Repeated(int64_t configurations, uint64_t seed) {
  WorldOptions options = Basic(configurations, seed);
  options.config.repeats = 3;
  options.config.sampler.kind = SamplerKind::kTpe;
  options.script = Noisy;
  return options;
}

std::map<TrialId, std::vector<TrialId>> Configurations(const RecordSnapshot& record) {
  std::map<TrialId, std::vector<TrialId>> found;
  for (const TrialRow& row : record.trials) {
    found[row.parent.value_or(row.id)].push_back(row.id);
  }
  return found;
}

// What must hold however it went: all configurations were run, none too often, the best
// in full.
void AuditRepeats(World& world, const WorldOptions& options) {
  const RecordSnapshot record = *world.store().Load();
  const auto configurations = Configurations(record);
  CHECK(std::ssize(configurations) == options.config.sampler.num_samples);
  for (const auto& [first, trials] : configurations) {
    CHECK(trials.front() == first);
    CHECK(std::ssize(trials) <= options.config.repeats);
    const std::vector<Params> params = world.store().LoadParams(trials);
    for (const Params& each : params) CHECK(each == params.front());
  }
  const Race race = RaceOf(record.trials, options.config, TrialId(0));
  const Standing* leader = race.Leader();
  REQUIRE(leader != nullptr);
  CHECK(std::ssize(leader->trials) == options.config.repeats);
  CHECK(world.controller().incumbent() == leader->best);
}

}  // namespace

TEST_CASE("repeats: promising configurations are run again, the best in full") {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Repeated(20, seed);
    World world(options);
    REQUIRE(world.Run(2000));
    CHECK(world.end()->code == ExitCode::kDone);
    AuditRecord(world, options);
    AuditRepeats(world, options);
    const auto trials = std::ssize(world.store().Load()->trials);
    CHECK(trials >= 22);
    CHECK(trials <= 45);  // 60 would be all of them
  }
}

TEST_CASE("repeats with losses, restarts and trials of every kind") {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    WorldOptions options = Repeated(20, seed);
    options.script = OfEveryKind;
    options.config.executor.max_initial_failures = 100;
    options.config.executor.max_concurrent_trials = 1 + static_cast<int64_t>(seed % 5);
    if (seed % 2 == 0) {
      options.config.scheduler.kind = SchedulerKind::kAsha;
      options.config.scheduler.max_t = 2;
    }
    options.faults.crash_controller_every_s = 15;
    options.faults.crash_node_every_s = 40;
    options.faults.crash_executor_every_s = 30;
    options.faults.drop = 0.05;
    options.faults.repeat = 0.05;
    options.faults.late = 0.05;
    options.faults.commit_fails = 0.02;
    options.faults.crash_at_commit = 0.005;
    options.faults.crash_after_commit = 0.005;
    World world(options);
    REQUIRE(world.Run(6000));
    CHECK(world.controller_lives() > 1);
    AuditRecord(world, options);
    AuditRepeats(world, options);
  }
}

TEST_CASE("repeats: one at a time, a sweep that is killed decides as one that is not") {
  WorldOptions options = Repeated(12, 5);
  options.config.executor.max_concurrent_trials = 1;
  World undisturbed(options);
  REQUIRE(undisturbed.Run(4000));
  options.faults.crash_controller_every_s = 10;
  World killed(options);
  REQUIRE(killed.Run(4000));
  CHECK(killed.controller_lives() > 2);
  const RecordSnapshot expected = *undisturbed.store().Load();
  const RecordSnapshot found = *killed.store().Load();
  REQUIRE(found.trials.size() == expected.trials.size());
  std::vector<TrialId> ids;
  for (size_t i = 0; i < found.trials.size(); ++i) {
    CHECK(found.trials[i].parent == expected.trials[i].parent);
    CHECK(found.trials[i].best == expected.trials[i].best);
    ids.push_back(found.trials[i].id);
  }
  CHECK(killed.store().LoadParams(ids) == undisturbed.store().LoadParams(ids));
}

TEST_CASE("repeats: no two trials have the same seed") {
  WorldOptions options = Repeated(9, 2);
  World world(options);
  REQUIRE(world.Run(2000));
  std::set<uint64_t> seeds;
  for (const auto& [key, seed] : world.seeds()) seeds.insert(seed);
  CHECK(seeds.size() == world.store().Load()->trials.size());
}

}  // namespace hyperopt::simulation

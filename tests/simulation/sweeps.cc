#include "tests/simulation/sweeps.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "search/commands/verify.h"
#include "search/testing/store_view.h"
#include "trial/rng.h"

namespace hyperopt::simulation {

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

void AuditRecord(World& world, const WorldOptions& options) {
  RecordedSweep recorded;
  recorded.store = std::make_unique<testing::StoreView>(&world.store());
  recorded.record = *world.store().Load();
  recorded.config = options.config;
  for (const std::string& line : VerifySweep(recorded)) FAIL_CHECK(line);
  for (const auto& [key, times] : world.starts()) CHECK(times == 1);
  CHECK(recorded.record.open_runs.empty());
}

void Audit(World& world, const WorldOptions& options) {
  AuditRecord(world, options);
  const RecordSnapshot record = *world.store().Load();
  for (const TrialRow& row : record.trials) {
    CAPTURE(row.id.value());
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
}

int64_t CountState(World& world, TrialState state) {
  const RecordSnapshot record = *world.store().Load();
  return std::count_if(record.trials.begin(),
                       record.trials.end(),
                       [&](const auto& row) { return row.state == state; });
}

}  // namespace hyperopt::simulation

// Changes of a living sweep, asked for while frames, commits and controllers are lost.
#include <doctest/doctest.h>

#include <algorithm>

#include "search/live_settings.h"
#include "search/proposals.h"
#include "tests/simulation/sweeps.h"

namespace hyperopt::simulation {
namespace {

// Until the record has the answer: as a command whose controller was killed asks again.
void AskUntilDone(World& world, const ChangeRequest& request) {
  const auto done = [&] {
    const Settings settings = world.store().Load()->sweep.settings;
    return std::ranges::any_of(
        SettingsBelow(settings, kLiveAnswer),
        [&](const auto& each) { return each.first.ends_with("." + request.token); });
  };
  while (!done()) {
    REQUIRE(!world.end());
    world.Ask(request);
    world.Run(1);
  }
}

}  // namespace

TEST_CASE("changes under faults are done once each, and change no proposal") {
  for (uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    CAPTURE(seed);
    WorldOptions options = Basic(30, seed);
    options.config.executor.max_concurrent_trials = 3;
    options.faults.drop = 0.05;
    options.faults.commit_fails = 0.2;
    options.faults.crash_at_commit = 0.02;
    options.faults.crash_after_commit = 0.02;
    World world(options);
    REQUIRE_FALSE(world.Run(5));
    AskUntilDone(world, {"pause", SetPaused{true}});
    AskUntilDone(world, {"add", AddTrials{{{{"x", 0.5}}, {{"n", int64_t{99}}}}}});
    AskUntilDone(world, {"go on", SetPaused{false}});
    AskUntilDone(world, {"more", AddSamples{5}});
    REQUIRE(world.Run(20000));
    const RecordSnapshot record = *world.store().Load();
    CHECK(std::ranges::count_if(record.trials, IsGiven) == 2);
    CHECK(record.trials.size() == 37);
    options.config.sampler.num_samples = 35;
    const auto sampler = MakeSampler(options.config.space, options.config.sampler);
    ProposalCursor cursor{Era{}};
    for (const TrialRow& row : record.trials) {
      CHECK(row.state == TrialState::kCompleted);
      if (IsGiven(row)) continue;
      const TrialId ids[] = {row.id};
      CHECK(world.store().LoadParams(ids)[0] ==
            *sampler->Suggest(TrialId(cursor.next()), {}));
      cursor.Take();
    }
  }
}

}  // namespace hyperopt::simulation

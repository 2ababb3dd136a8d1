#include <doctest/doctest.h>

#include "search/controller.h"
#include "tests/simulation/sweeps.h"
#include "trial/rng.h"

namespace hyperopt::simulation {

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

}  // namespace hyperopt::simulation

#include <doctest/doctest.h>

#include <map>

#include "search/controller.h"
#include "tests/simulation/sweeps.h"

namespace hyperopt::simulation {
namespace {

// What one executor was sent in a turn.
struct Sent {
  ExecutorId id;
  int answers = 0;
  std::vector<RunKey> launches;
};

std::map<std::string, Sent> Take(Controller& controller, Now now) {
  std::map<std::string, Sent> sent;
  for (const SendTo& to : controller.TakeTurn(now).sends) {
    Sent& of_peer = sent[to.peer];
    if (const auto* welcome = std::get_if<Welcome>(&to.message))
      of_peer.id = welcome->id;
    if (std::holds_alternative<Answer>(to.message)) ++of_peer.answers;
    if (const auto* launch = std::get_if<Launch>(&to.message)) {
      of_peer.launches.push_back(launch->key);
    }
  }
  controller.CheckInvariants();
  return sent;
}

}  // namespace

// Its transport repeats the last heartbeat: only the number of its loop's turns tells.
TEST_CASE("an executor whose loop stands still has no lease and gets no work") {
  SearchConfig config = BasicConfig(2);
  config.executor.heartbeat_s = 1;
  config.executor.stuck_s = 10;
  const auto sampler = MakeSampler(config.space, config.sampler);
  const auto scheduler = MakeScheduler(config.scheduler, config.goal, 1);
  ControllerStart start;
  start.record.sweep.id = "0123456789abcdef";
  Now now{Time(Seconds(1000)), 1000};
  Controller controller(config, *sampler, *scheduler, std::move(start), now);
  for (const auto& [name, cpus] : {std::pair("stands", 2), std::pair("dies", 1)}) {
    Hello hello;
    hello.name = name;
    hello.host = name;
    hello.pid = cpus;
    hello.resources.cpus = Share::Whole(cpus);
    controller.Handle(PeerSaid{name, hello}, now);
  }
  std::map<std::string, Sent> first = Take(controller, now);
  REQUIRE(first["stands"].launches.size() == 1);
  REQUIRE(first["dies"].launches.size() == 1);
  const RunKey lost = first["dies"].launches[0];

  int64_t number = 0;
  const auto beat = [&](int64_t turn) {
    Heartbeat heartbeat;
    heartbeat.id = first["stands"].id;
    heartbeat.number = ++number;
    heartbeat.turn = turn;
    heartbeat.holdings = {{first["stands"].launches[0], HoldState::kRunning, ""}};
    controller.Handle(PeerSaid{"stands", heartbeat}, now);
    return Take(controller, now)["stands"];
  };
  // Two CPUs, one of them free. The other executor says nothing any more: after 24 s
  // its trial waits for a place.
  for (int second = 1; second <= 35; ++second) {
    CAPTURE(second);
    now.steady += Seconds(1);
    const Sent sent = beat(1);
    CHECK(sent.answers == (second <= 11 ? 1 : 0));
    CHECK(sent.launches.empty());
  }
  now.steady += Seconds(1);
  const Sent sent = beat(2);
  CHECK(sent.answers == 1);
  REQUIRE(sent.launches.size() == 1);
  CHECK(sent.launches[0].trial == lost.trial);
  CHECK(sent.launches[0].attempt == Attempt(2));
}

}  // namespace hyperopt::simulation

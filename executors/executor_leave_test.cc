#include <doctest/doctest.h>

#include <algorithm>
#include <variant>

#include "executors/executor.h"

namespace hyperopt {
namespace {

bool Leaves(const std::vector<ExecutorAction>& actions) {
  return std::any_of(actions.begin(), actions.end(), [](const ExecutorAction& action) {
    return std::holds_alternative<Leave>(action);
  });
}

// Found on a full disk: the keeper could not write exit.json, said no end, and executor
// and keeper stayed for ever after their controller was gone.
TEST_CASE("an end that is never told does not hold an executor without a controller") {
  Time now;
  ExecutorIdentity identity;
  identity.embedded = true;
  Executor executor(identity, now);
  executor.Handle(KeeperSaid{KeeperHello{}}, now);
  executor.Handle(Tick{}, now);
  Welcome welcome;
  welcome.id = ExecutorId(1);
  welcome.sweep.sweep_id = "00000000000000aa";
  welcome.timing = {.heartbeat_s = 2, .controller_lost_s = 5, .stop_grace_s = 3};
  executor.Handle(FrameCame{welcome}, now);
  Launch launch;
  launch.key = {TrialId(0), RunId(0), Attempt(1)};
  executor.Handle(FrameCame{launch}, now);
  executor.Handle(KeeperSaid{RunStarted{launch.key, {17}}}, now);

  std::optional<int> left;
  for (int second = 1; second <= 60 && !left; ++second) {
    now += Seconds(1);
    if (Leaves(executor.Handle(Tick{}, now))) left = second;
  }
  REQUIRE(left);
  // The trial had its grace, and the keeper time to write.
  CHECK(*left > 5 + 3);
  CHECK(*left < 30);
}

}  // namespace
}  // namespace hyperopt

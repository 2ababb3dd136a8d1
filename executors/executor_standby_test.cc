// Launches that stand by for the place of another.
#include <doctest/doctest.h>

#include <variant>
#include <vector>

#include "executors/executor.h"

namespace hyperopt {
namespace {

RunKey Key(int64_t trial) { return {TrialId(trial), RunId(0), Attempt(1)}; }

// An executor that was welcomed; Start and End are its keeper's words.
class Standby {
 public:
  Standby() : executor_(ExecutorIdentity{}, now_) {
    executor_.Handle(KeeperSaid{KeeperHello{}}, now_);
    executor_.Handle(Tick{}, now_);
    Welcome welcome;
    welcome.id = ExecutorId(1);
    welcome.sweep.sweep_id = "00000000000000aa";
    Hear(welcome);
  }

  // The trials whose processes are started by what happens.
  std::vector<int64_t> Hear(ToExecutor message) {
    return Started(executor_.Handle(FrameCame{std::move(message)}, now_));
  }
  std::vector<int64_t> Launched(int64_t trial, std::optional<int64_t> after = {}) {
    Launch launch;
    launch.key = Key(trial);
    if (after) launch.after = Key(*after);
    return Hear(launch);
  }
  std::vector<int64_t> Recalled(int64_t trial) {
    return Hear(Stop{Key(trial), Reason::kPreempted, 0, true});
  }
  void Begins(int64_t trial) {
    executor_.Handle(KeeperSaid{RunStarted{Key(trial), {17}}}, now_);
  }
  std::vector<int64_t> Ends(int64_t trial) {
    return Started(executor_.Handle(KeeperSaid{RunEnded{Key(trial), {}}}, now_));
  }
  std::vector<int64_t> Refused(int64_t trial) {
    const StartRefused refused{Key(trial), false, "no such program"};
    return Started(executor_.Handle(refused, now_));
  }
  // Its end is committed: the executor forgets it.
  void Acknowledged(int64_t trial) {
    executor_.Handle(RunDrained{Key(trial), {}, std::nullopt}, now_);
    Answer answer;
    answer.ended = {Key(trial)};
    Hear(answer);
  }
  size_t held() const { return executor_.held(); }

 private:
  std::vector<int64_t> Started(const std::vector<ExecutorAction>& actions) {
    executor_.CheckInvariants();
    std::vector<int64_t> trials;
    for (const ExecutorAction& action : actions) {
      const auto* start = std::get_if<StartRun>(&action);
      if (start != nullptr) trials.push_back(start->launch.key.trial.value());
    }
    return trials;
  }

  Time now_;
  Executor executor_;
};

using Trials = std::vector<int64_t>;

TEST_CASE("who stands by starts once the one before it has ended, one after another") {
  Standby standby;
  CHECK(standby.Launched(0) == Trials{0});
  standby.Begins(0);
  CHECK(standby.Launched(1, 0).empty());
  CHECK(standby.Launched(2, 1).empty());
  CHECK(standby.Launched(2, 1).empty());  // said twice
  CHECK(standby.Ends(0) == Trials{1});
  CHECK(standby.Ends(0).empty());
  standby.Begins(1);
  CHECK(standby.Ends(1) == Trials{2});
}

TEST_CASE("a launch that comes after the end, known or forgotten, starts at once") {
  Standby standby;
  standby.Launched(0);
  standby.Begins(0);
  standby.Ends(0);
  CHECK(standby.Launched(1, 0) == Trials{1});
  standby.Acknowledged(0);
  standby.Begins(1);
  standby.Ends(1);
  standby.Acknowledged(1);
  CHECK(standby.held() == 0);
  CHECK(standby.Launched(2, 1) == Trials{2});
}

TEST_CASE("behind one that is not known it is dropped: its place may be another's") {
  Standby standby;
  CHECK(standby.Launched(1, 0).empty());
  CHECK(standby.held() == 0);
}

TEST_CASE("a recall ends who stands by, and leaves who runs alone") {
  Standby standby;
  standby.Launched(0);
  standby.Begins(0);
  standby.Launched(1, 0);
  standby.Launched(2, 1);
  CHECK(standby.Recalled(0).empty());
  CHECK(standby.Recalled(1).empty());
  // Behind a recalled one stands whoever is behind the one before it.
  CHECK(standby.Ends(0) == Trials{2});
  standby.Begins(2);
  // The recalled one never had the place, neither held nor forgotten.
  CHECK(standby.Launched(3, 1).empty());
  standby.Acknowledged(1);
  CHECK(standby.Launched(3, 1).empty());
  CHECK(standby.Ends(2).empty());
}

TEST_CASE("one that could not be started leaves its place to the next") {
  Standby standby;
  standby.Launched(0);
  standby.Launched(1, 0);
  CHECK(standby.Refused(0) == Trials{1});
}

TEST_CASE("a place is given to one alone") {
  Standby standby;
  standby.Launched(0);
  standby.Begins(0);
  standby.Launched(1, 0);
  CHECK(standby.Launched(2, 0).empty());
  CHECK(standby.Ends(0) == Trials{1});
}

}  // namespace
}  // namespace hyperopt

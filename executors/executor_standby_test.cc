// Launches that stand by for the place of another.
#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "executors/executor.h"

namespace hyperopt {
namespace {

RunKey Key(int64_t trial) { return {TrialId(trial), RunId(0), Attempt(1)}; }

// What an executor is to do, in words: "1" starts trial 1, "2 after 1" hands it to the
// keeper to stand by, "recall 2" and "stop 2" are told to the keeper, "ended 2" to the
// controller.
using Words = std::vector<std::string>;

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

  Words Hear(ToExecutor message) { return Handle(FrameCame{std::move(message)}); }
  Words Launched(int64_t trial, std::optional<int64_t> after = {}) {
    Launch launch;
    launch.key = Key(trial);
    if (after) launch.after = Key(*after);
    return Hear(launch);
  }
  Words Recalled(int64_t trial) {
    return Hear(Stop{Key(trial), Reason::kPreempted, 0, true});
  }
  Words Stopped(int64_t trial) { return Hear(Stop{Key(trial), Reason::kUser, 5}); }
  // The keeper's words, and what the loop says of them.
  Words Begins(int64_t trial) {
    return Handle(KeeperSaid{RunStarted{Key(trial), {17}}});
  }
  Words Ends(int64_t trial) { return Handle(KeeperSaid{RunEnded{Key(trial), {}}}); }
  Words GivenBack(int64_t trial) {
    RunEnded ended{Key(trial), {}};
    ended.info.started = false;
    ended.info.asked = Reason::kPreempted;
    return Handle(KeeperSaid{ended});
  }
  Words Refused(int64_t trial, bool retry) {
    return Handle(StartRefused{Key(trial), retry, "the disk is full"});
  }
  Words Drained(int64_t trial) {
    return Handle(RunDrained{Key(trial), {}, std::nullopt});
  }
  // Its end is committed: the executor forgets it.
  void Acknowledged(int64_t trial) {
    Drained(trial);
    Answer answer;
    answer.ended = {Key(trial)};
    Hear(answer);
  }
  std::string Why(int64_t trial) {
    now_ += Seconds(60);
    for (const ExecutorAction& action : executor_.Handle(Tick{}, now_)) {
      const auto* beat = std::get_if<SendHeartbeat>(&action);
      if (beat == nullptr) continue;
      for (const Holding& holding : beat->message.holdings) {
        if (holding.key == Key(trial)) return holding.why;
      }
    }
    return "no word of it";
  }
  size_t held() const { return executor_.held(); }

 private:
  Words Handle(const ExecutorEvent& event) {
    const std::vector<ExecutorAction> actions = executor_.Handle(event, now_);
    executor_.CheckInvariants();
    Words words;
    for (const ExecutorAction& action : actions) {
      if (const auto* start = std::get_if<StartRun>(&action)) {
        const auto& after = start->launch.after;
        words.push_back(Number(start->launch.key) +
                        (after ? " after " + Number(*after) : ""));
      } else if (const auto* tell = std::get_if<TellKeeper>(&action)) {
        const auto* stop = std::get_if<StopRun>(&tell->message);
        if (stop == nullptr) continue;
        words.push_back((stop->if_waiting ? "recall " : "stop ") + Number(stop->key));
      } else if (const auto* send = std::get_if<SendFrame>(&action)) {
        const auto* exited = std::get_if<Exited>(&send->message);
        if (exited != nullptr) words.push_back("ended " + Number(exited->key));
      }
    }
    return words;
  }
  static std::string Number(const RunKey& key) {
    return std::to_string(key.trial.value());
  }

  Time now_;
  Executor executor_;
};

TEST_CASE("who stands by is handed to the keeper at once, which starts it") {
  Standby standby;
  CHECK(standby.Launched(0) == Words{"0"});
  standby.Begins(0);
  CHECK(standby.Launched(1, 0) == Words{"1 after 0"});
  CHECK(standby.Launched(2, 1) == Words{"2 after 1"});
  CHECK(standby.Launched(2, 1).empty());  // said twice
  CHECK(standby.Why(2) == "the place of trial 1");
  CHECK(standby.Ends(0).empty());
  standby.Begins(1);
  CHECK(standby.Why(1).empty());
  CHECK(standby.Ends(1).empty());
  standby.Begins(2);
  CHECK(standby.Why(2).empty());
}

TEST_CASE("a launch that comes after the end, known or forgotten, starts at once") {
  Standby standby;
  standby.Launched(0);
  standby.Begins(0);
  standby.Ends(0);
  CHECK(standby.Launched(1, 0) == Words{"1"});
  standby.Acknowledged(0);
  standby.Begins(1);
  standby.Ends(1);
  standby.Acknowledged(1);
  CHECK(standby.held() == 0);
  CHECK(standby.Launched(2, 1) == Words{"2"});
}

TEST_CASE("behind one that is not known it is dropped: its place may be another's") {
  Standby standby;
  CHECK(standby.Launched(1, 0).empty());
  CHECK(standby.held() == 0);
}

TEST_CASE("a recall is the keeper's to decide, and leaves who runs alone") {
  Standby standby;
  standby.Launched(0);
  standby.Begins(0);
  standby.Launched(1, 0);
  standby.Launched(2, 1);
  CHECK(standby.Recalled(0).empty());
  CHECK(standby.Recalled(1) == Words{"recall 1"});
  // Until the keeper answers it may have started.
  standby.GivenBack(1);
  CHECK(standby.Drained(1) == Words{"ended 1"});
  CHECK(standby.Why(2) == "the place of trial 0");
  // The recalled one never had the place, neither held nor forgotten.
  CHECK(standby.Launched(3, 1).empty());
  standby.Acknowledged(1);
  CHECK(standby.Launched(3, 1).empty());
  CHECK(standby.Launched(3, 2) == Words{"3 after 2"});
}

TEST_CASE("a stop reaches who stands by, also where it has started meanwhile") {
  Standby standby;
  standby.Launched(0);
  standby.Begins(0);
  standby.Launched(1, 0);
  standby.Launched(2, 1);
  CHECK(standby.Stopped(1) == Words{"stop 1"});
  standby.Ends(0);
  standby.Begins(1);
  CHECK(standby.Stopped(1) == Words{"stop 1"});
  standby.Ends(1);
  standby.Begins(2);
  CHECK(standby.Recalled(2).empty());
}

TEST_CASE("one that can not be prepared is given back, since its place may come") {
  Standby standby;
  standby.Launched(0);
  standby.Begins(0);
  standby.Launched(1, 0);
  standby.Refused(1, true);
  CHECK(standby.Drained(1) == Words{"ended 1"});
  CHECK(standby.Launched(2, 1).empty());
  CHECK(standby.Launched(3, 0) == Words{"3 after 0"});
  standby.Refused(3, false);
  CHECK(standby.Launched(4, 0) == Words{"4 after 0"});
}

TEST_CASE("behind one that waits here for room nobody stands by") {
  Standby standby;
  standby.Launched(0);
  standby.Refused(0, true);
  CHECK(standby.Launched(1, 0).empty());
  CHECK(standby.held() == 1);
}

TEST_CASE("a place is given to one alone") {
  Standby standby;
  standby.Launched(0);
  standby.Begins(0);
  standby.Launched(1, 0);
  CHECK(standby.Launched(2, 0).empty());
  CHECK(standby.held() == 2);
}

}  // namespace
}  // namespace hyperopt

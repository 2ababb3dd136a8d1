// The executor as a state machine without I/O: events in, actions out, time a
// parameter. The loop around it (agent.h) joins it to the controller's socket, the
// keeper and the files.
//
// What a run goes through here:
//   Launch -> kStarting -> (keeper says started) kRunning -> [Stop] kStopping
//          -> (keeper says ended) drained to the end of its files -> kEnded, Exited
//          sent
//          -> (the controller has committed the end) forgotten
// Nothing finished is forgotten before that last step; whatever is sent may be lost and
// is sent again when an answered heartbeat shows that it did not arrive.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "executors/keeper.h"
#include "executors/messages.h"
#include "executors/report_reader.h"
#include "executors/standby_row.h"
#include "trial/clock.h"

namespace hyperopt {

struct ExecutorIdentity {
  std::string name;
  std::string host;
  std::string boot_id;
  int32_t pid = 0;
  bool embedded = false;
  LostPolicy lost_policy = LostPolicy::kStop;
  Resources resources;
  // What an earlier life left in the state folder, where there was one.
  std::optional<ExecutorId> id;
  std::string sweep_id;
  // Commit-like bound: a source is not read further ahead of its acknowledged offset.
  int64_t max_unacknowledged = 4 << 20;
};

// ---- events ----

struct FrameCame {
  ToExecutor message;
};
struct KeeperSaid {
  FromKeeper message;
};
// The loop read a source (its files, or as DrainRun and HarvestRun asked).
struct SourceCame {
  RunKey key;
  SourceRead read;
};
// All sources of an ended run have been handed in. `exit` where the loop read exit.json
// itself (harvest); nullopt there means that nothing is known of the end.
struct RunDrained {
  RunKey key;
  std::vector<int64_t> checkpoints;
  std::optional<ExitInfo> harvested;
};
// A launch could not be handed to the keeper: `retry` where it only has to wait (`why`
// is shown to the user), else it failed.
struct StartRefused {
  RunKey key;
  bool retry = false;
  std::string why;
  // With retry: another device may have room. It waits ten seconds here, then the
  // launch is given back.
  bool elsewhere = false;
};
// The driver was asked: told with the heartbeats from here on.
struct DevicesSeen {
  std::vector<DeviceNews> devices;
};
// No trial can be started here, for a reason that stays: give the trials back and leave
// with it.
struct Unfit {
  std::string why;
};
struct Tick {};
// SIGTERM to the executor: give the trials back and leave.
struct QuitAsked {};

using ExecutorEvent = std::variant<FrameCame,
                                   KeeperSaid,
                                   SourceCame,
                                   RunDrained,
                                   StartRefused,
                                   DevicesSeen,
                                   Unfit,
                                   Tick,
                                   QuitAsked>;

// ---- actions ----

struct SendFrame {
  FromExecutor message;
};
// A heartbeat: sent, and kept by the transport to be repeated while the loop is busy.
struct SendHeartbeat {
  Heartbeat message;
};
// The welcome came: sweep and timing are known from here on.
struct UseSweep {
  Welcome welcome;
};
// Prepare the folder, open its sources at 0 and hand the ranks to the keeper. Where
// launch.after is set it stands by there: it gets the CPUs of that run, and its sources
// are opened once the keeper says that it started.
struct StartRun {
  Launch launch;
};
struct TellKeeper {
  ToKeeper message;
};
// Open the sources of a run that the keeper holds already, at committed places.
struct FollowRun {
  RunKey key;
  std::vector<SourceOffset> from;
};
// Read the folder of a run that nobody holds: exit.json, and its sources from `from`
// on.
struct HarvestRun {
  RunKey key;
  std::vector<SourceOffset> from;
};
// Read all sources to the end, hand them in, then RunDrained.
struct DrainRun {
  RunKey key;
};
// Read again from here: what was sent after it did not arrive.
struct RewindRun {
  RunKey key;
  std::vector<SourceOffset> to;
};
// Committed up to here; older checkpoints may go.
struct Committed {
  RunKey key;
  int64_t best_step = 0;
  int64_t last_step = 0;
  std::vector<int64_t> further_best;
};
// Close sources and leases of the run.
struct CloseRun {
  RunKey key;
};
// The loop ends.
struct Leave {
  std::string why;  // "" for an ordinary end
};

using ExecutorAction = std::variant<SendFrame,
                                    SendHeartbeat,
                                    UseSweep,
                                    StartRun,
                                    TellKeeper,
                                    FollowRun,
                                    HarvestRun,
                                    DrainRun,
                                    RewindRun,
                                    Committed,
                                    CloseRun,
                                    Leave>;

class Executor {
 public:
  Executor(ExecutorIdentity options, Time now);

  // Deterministic. Actions are carried out in order.
  std::vector<ExecutorAction> Handle(const ExecutorEvent& event, Time now);

  // Whether the loop may read more of this run's sources now (it is held, and not too
  // far ahead of what is acknowledged).
  bool MayRead(const RunKey& key) const;
  // When a Tick is due at the latest.
  Time next_tick() const;
  // Keys whose sources are to be looked at: started, not yet ended.
  std::vector<RunKey> Following() const;
  size_t held() const { return runs_.size(); }

  // Throws std::logic_error naming the first broken invariant. For tests.
  void CheckInvariants() const;

 private:
  struct Source {
    SourceOffset sent;
    SourceOffset acked;
    SourceOffset marked;  // sent, when the newest heartbeat left
  };
  struct Run {
    RunKey key;
    HoldState state = HoldState::kStarting;
    std::string why;
    std::optional<Launch> launch;  // until it was started
    bool adopted = false;          // held by the keeper before this life
    bool followed = false;         // its sources are open
    bool discarded = false;        // superseded: its end interests nobody
    bool never_placed = false;     // it ended while it stood by
    bool draining = false;
    bool keeper_holds = false;
    std::optional<ExitInfo> exit;
    std::optional<Exited> exited;     // as sent
    int64_t exited_at_heartbeat = 0;  // the newest heartbeat when Exited was sent
    std::map<std::string, Source> sources;
    Oddities oddities;
    Time retry_at;
    std::optional<Time> elsewhere_at;  // when its launch is given back
  };

  void On(const FrameCame& event);
  void On(const KeeperSaid& event);
  void On(const SourceCame& event);
  void On(const RunDrained& event);
  void On(const StartRefused& event);
  void On(const DevicesSeen& event);
  void On(const Unfit& event);
  void On(const Tick& event);
  void On(const QuitAsked& event);

  void OnMessage(const Welcome& message);
  void OnMessage(const Answer& message);
  void OnMessage(const Launch& message);
  void OnMessage(const Stop& message);
  void OnMessage(const Shutdown& message);
  void OnMessage(const Refused& message);
  void OnMessage(const HelloAgain& message);

  void OnKeeper(const KeeperHello& message);
  void OnKeeper(const RunStarted& message);
  void OnKeeper(const RunEnded& message);

  void SayHello();
  void Beat();
  void FollowAdopted();
  void StopAll(Reason reason, double grace_s);
  void SendExited(Run* run);
  void EndUnstarted(Run* run, Reason reason);
  // Who stands by for the place of another: executor_standby.cc.
  enum class Room { kNow, kLater, kUnknown };
  Room RoomAfter(const RunKey& key) const;
  void SayWhyItWaits(Run* run);
  void LeaveRow(Run* run);
  void LeavePlace(const RunKey& key);
  // It waits here, for a device or for room on a disk, and not at the keeper.
  bool WaitsHere(const Run& run) const {
    return run.launch && !run.why.empty() && !row_.Waits(run.key);
  }
  void Forget(const RunKey& key);
  void ApplyAck(const Ack& ack, bool may_rewind);
  void LeaveWhenEmpty();
  Run* Find(const RunKey& key);
  std::vector<Holding> Holdings() const;
  template <typename Action>
  void Do(Action action) {
    actions_.emplace_back(std::move(action));
  }

  ExecutorIdentity options_;
  Timing timing_;
  std::optional<ExecutorId> id_;
  std::string sweep_id_;
  bool welcomed_ = false;
  bool lease_lost_ = false;
  bool quitting_ = false;
  bool goodbye_heard_ = false;  // a Welcome came since it said that it offers nothing
  bool shutting_down_ = false;
  bool left_ = false;
  int64_t heartbeats_ = 0;
  int64_t turns_ = 0;
  int64_t mark_beat_ = 0;  // the heartbeat whose sending set the marks; 0: none is out
  std::map<int64_t, Time> beat_sent_;  // unanswered heartbeats
  Time now_;
  int64_t born_ = 0;
  Time lease_start_;
  Time next_hello_;
  Time hello_sent_;
  Time next_beat_;
  std::map<RunKey, Run> runs_;
  std::vector<DeviceNews> devices_;
  std::string unfit_;
  // The newest attempt of each run whose end was acknowledged: a launch of it that
  // comes late or twice is not started again.
  std::map<std::pair<TrialId, RunId>, Attempt> over_;
  StandbyRow row_;             // as the keeper has it, or will
  std::set<RunKey> recalled_;  // of those in over_: they never had a place
  std::vector<ExecutorAction> actions_;
};

}  // namespace hyperopt

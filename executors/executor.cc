#include "executors/executor.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace hyperopt {
namespace {

constexpr double kHelloEvery = 1.0;
constexpr double kUnwrittenExitS = 10.0;
constexpr double kRetryStartEvery = 1.0;
constexpr double kElsewhereAfter = 10.0;

}  // namespace

Executor::Executor(ExecutorIdentity options, Time now)
    : options_(std::move(options)),
      id_(options_.id),
      sweep_id_(options_.sweep_id),
      now_(now),
      born_(now.time_since_epoch().count()),
      lease_start_(now),
      next_hello_(now),
      next_beat_(now) {}

std::vector<ExecutorAction> Executor::Handle(const ExecutorEvent& event, Time now) {
  // A gap (SIGSTOP, a suspended machine) must not look like a controller that fell
  // silent: what has come is handled before silence is judged, so leases grow by the
  // gap.
  const Duration gap = now - now_;
  const Duration longest = Seconds(2 * timing_.heartbeat_s);
  if (gap > longest) lease_start_ += gap - longest;
  now_ = now;
  actions_.clear();
  std::visit([this](const auto& e) { On(e); }, event);
  return std::exchange(actions_, {});
}

Executor::Run* Executor::Find(const RunKey& key) {
  const auto it = runs_.find(key);
  return it == runs_.end() ? nullptr : &it->second;
}

bool Executor::MayRead(const RunKey& key) const {
  const auto it = runs_.find(key);
  if (it == runs_.end()) return false;
  const Run& run = it->second;
  if (!run.followed || run.discarded || run.exited) return false;
  for (const auto& [name, source] : run.sources) {
    const int64_t acked =
        source.acked.source.generation == source.sent.source.generation
            ? source.acked.offset
            : 0;
    if (source.sent.offset - acked > options_.max_unacknowledged) return false;
  }
  return true;
}

Time Executor::next_tick() const {
  Time due = welcomed_ ? next_beat_ : next_hello_;
  for (const auto& [key, run] : runs_) {
    if (run.launch && !run.why.empty()) due = std::min(due, run.retry_at);
  }
  return due;
}

std::vector<RunKey> Executor::Following() const {
  std::vector<RunKey> keys;
  for (const auto& [key, run] : runs_) {
    if (run.followed && !run.draining && !run.exited) keys.push_back(key);
  }
  return keys;
}

std::vector<Holding> Executor::Holdings() const {
  std::vector<Holding> holdings;
  for (const auto& [key, run] : runs_) {
    holdings.push_back({key, run.state, run.why});
  }
  return holdings;
}

void Executor::SayHello() {
  next_hello_ = now_ + Seconds(kHelloEvery);
  hello_sent_ = now_;
  Hello hello;
  hello.name = options_.name;
  hello.host = options_.host;
  hello.boot_id = options_.boot_id;
  hello.pid = options_.pid;
  hello.born = born_;
  hello.embedded = options_.embedded;
  hello.id = id_;
  hello.sweep_id = sweep_id_;
  hello.lost_policy = options_.lost_policy;
  hello.resources = options_.resources;
  hello.holdings = Holdings();
  Do(SendFrame{std::move(hello)});
}

void Executor::Beat() {
  next_beat_ = now_ + Seconds(timing_.heartbeat_s);
  ++heartbeats_;
  beat_sent_[heartbeats_] = now_;
  // Marks stay until a heartbeat that left after them is answered, however late.
  if (mark_beat_ == 0) {
    mark_beat_ = heartbeats_;
    for (auto& [key, run] : runs_) {
      for (auto& [name, source] : run.sources) source.marked = source.sent;
    }
  }
  // A bound: answers that never come must not grow the map.
  while (beat_sent_.size() > 1000) beat_sent_.erase(beat_sent_.begin());
  Do(SendHeartbeat{Heartbeat{*id_, heartbeats_, turns_, Holdings(), devices_}});
}

// ---- the keeper's words ----

void Executor::On(const KeeperSaid& event) {
  std::visit([this](const auto& message) { OnKeeper(message); }, event.message);
}

void Executor::OnKeeper(const KeeperHello& message) {
  if (!message.holdings.empty()) sweep_id_ = message.sweep_id;
  for (const Holding& holding : message.holdings) {
    if (Find(holding.key) != nullptr) continue;
    Run& run = runs_[holding.key];
    run.key = holding.key;
    run.state =
        holding.state == HoldState::kEnded ? HoldState::kRunning : holding.state;
    run.adopted = true;
    run.keeper_holds = true;
  }
}

void Executor::OnKeeper(const RunStarted& message) {
  Run* run = Find(message.key);
  if (run == nullptr) return;
  run->launch.reset();
  if (run->state == HoldState::kStarting) run->state = HoldState::kRunning;
}

void Executor::OnKeeper(const RunEnded& message) {
  Run* run = Find(message.key);
  if (run == nullptr) {
    Do(TellKeeper{ReleaseRun{message.key}});
    return;
  }
  if (row_.Waits(message.key)) {
    LeaveRow(run);
  } else {
    LeavePlace(message.key);
  }
  run->launch.reset();
  run->exit = message.info;
  if (run->discarded) {
    Forget(message.key);
    LeaveWhenEmpty();
    return;
  }
  if (!run->followed) return;  // adopted, and the welcome has not come yet
  run->draining = true;
  Do(DrainRun{message.key});
}

// ---- the loop's words ----

void Executor::On(const SourceCame& event) {
  Run* run = Find(event.key);
  if (run == nullptr || run->discarded || !id_) return;
  Source& source = run->sources[event.read.upto.source.name];
  source.sent = event.read.upto;
  const Oddities& odd = event.read.oddities;
  run->oddities.not_json += odd.not_json;
  run->oddities.too_long += odd.too_long;
  run->oddities.binary += odd.binary;
  run->oddities.no_number += odd.no_number;
  if (run->oddities.first.empty()) run->oddities.first = odd.first;
  Measured measured;
  measured.id = *id_;
  measured.key = event.key;
  measured.upto = event.read.upto;
  measured.from = event.read.from;
  measured.lines = event.read.lines;
  measured.oddities = odd;
  Do(SendFrame{std::move(measured)});
}

void Executor::On(const RunDrained& event) {
  Run* run = Find(event.key);
  if (run == nullptr || run->discarded) return;
  run->draining = false;
  run->state = HoldState::kEnded;
  if (!run->exit) {
    ExitInfo lost;
    lost.lost = true;
    lost.error = "nothing is known of its end";
    run->exit = event.harvested.value_or(lost);
  }
  Exited exited;
  exited.id = *id_;
  exited.key = event.key;
  exited.info = *run->exit;
  exited.oddities = run->oddities;
  exited.checkpoints = event.checkpoints;
  for (const auto& [name, source] : run->sources) exited.offsets.push_back(source.sent);
  run->exited = std::move(exited);
  SendExited(run);
}

void Executor::SendExited(Run* run) {
  run->exited_at_heartbeat = heartbeats_;
  Do(SendFrame{*run->exited});
}

void Executor::On(const StartRefused& event) {
  Run* run = Find(event.key);
  if (run == nullptr) return;
  // Who stands by is not kept waiting here: its place may come meanwhile.
  const bool waits = row_.Waits(event.key);
  if (waits && event.retry) return EndUnstarted(run, Reason::kPreempted);
  if (event.retry) {
    run->why = event.why;
    run->keeper_holds = false;
    run->retry_at = now_ + Seconds(kRetryStartEvery);
    if (!event.elsewhere) run->elsewhere_at.reset();
    if (event.elsewhere && !run->elsewhere_at) {
      run->elsewhere_at = now_ + Seconds(kElsewhereAfter);
    }
    if (run->elsewhere_at && now_ >= *run->elsewhere_at) {
      EndUnstarted(run, Reason::kPreempted);
    }
    return;
  }
  if (waits) LeaveRow(run);
  run->launch.reset();
  run->keeper_holds = false;
  ExitInfo info;
  info.started = false;
  info.error = event.why;
  run->exit = info;
  run->draining = true;
  Do(DrainRun{event.key});
}

void Executor::On(const Tick&) {
  if (left_) return;
  ++turns_;
  if (!welcomed_) {
    if (now_ >= next_hello_) SayHello();
  } else if (now_ >= next_beat_) {
    Beat();
  }
  for (auto& [key, run] : runs_) {
    if (run.launch && !run.why.empty() && now_ >= run.retry_at) {
      run.why.clear();
      run.keeper_holds = true;
      Do(StartRun{*run.launch});
    }
  }
  const bool silent = now_ - lease_start_ > Seconds(timing_.controller_lost_s);
  if (silent && !lease_lost_ && options_.lost_policy == LostPolicy::kStop) {
    lease_lost_ = true;
    StopAll(Reason::kInterrupted, timing_.stop_grace_s);
  }
  LeaveWhenEmpty();
}

// The controller waits for the first news of devices before it gives any away.
void Executor::On(const DevicesSeen& event) {
  if (welcomed_ && devices_.empty() && !event.devices.empty()) next_beat_ = now_;
  devices_ = event.devices;
}

void Executor::On(const Unfit& event) {
  unfit_ = event.why;
  On(QuitAsked{});
}

void Executor::On(const QuitAsked&) {
  quitting_ = true;
  options_.resources = {};  // nothing more may be placed here
  if (welcomed_) SayHello();
  StopAll(Reason::kPreempted, timing_.stop_grace_s);
  LeaveWhenEmpty();
}

void Executor::StopAll(Reason reason, double grace_s) {
  for (auto& [key, run] : runs_) {
    if (run.exit || run.exited || run.draining) continue;
    if (WaitsHere(run)) {
      EndUnstarted(&run, reason);
      continue;
    }
    run.state = HoldState::kStopping;
    Do(TellKeeper{StopRun{key, reason, grace_s}});
  }
}

void Executor::EndUnstarted(Run* run, Reason reason) {
  if (row_.Waits(run->key)) LeaveRow(run);
  run->launch.reset();
  run->keeper_holds = false;
  run->exit = ExitInfo{};
  run->exit->asked = reason;
  run->draining = true;
  Do(DrainRun{run->key});
}

void Executor::Forget(const RunKey& key) {
  const Run* run = Find(key);
  if (run->keeper_holds) Do(TellKeeper{ReleaseRun{key}});
  Do(CloseRun{key});
  if (run->never_placed) recalled_.insert(key);
  Attempt& over = over_[{key.trial, key.run}];
  over = std::max(over, key.attempt);
  runs_.erase(key);
}

void Executor::LeaveWhenEmpty() {
  if (left_) return;
  const bool over = quitting_ || shutting_down_ || (lease_lost_ && options_.embedded);
  if (!over) return;
  // exit.json and report stay in the folders: with the lease lost nobody acknowledges
  // ends, and the next controller harvests them.
  const bool all_ended = std::all_of(runs_.begin(), runs_.end(), [](const auto& item) {
    return item.second.exited.has_value() || item.second.discarded;
  });
  // A controller that is gone acknowledges nothing any more.
  const bool nobody = now_ - lease_start_ > Seconds(timing_.controller_lost_s);
  const bool waits_not = lease_lost_ || shutting_down_ || nobody;
  // After the answer to its last Hello no launch can be on its way here any more.
  const bool goodbye = goodbye_heard_ || !welcomed_;
  // What is not over by then is dead, and its keeper can not write that down (a full
  // disk): it goes on trying alone, for a while.
  const double longest =
      timing_.controller_lost_s + timing_.stop_grace_s + kUnwrittenExitS;
  const bool overdue = now_ - lease_start_ > Seconds(longest);
  const bool done = waits_not ? all_ended || overdue : runs_.empty() && goodbye;
  if (!done) return;
  left_ = true;
  Do(TellKeeper{KeeperShutdown{}});
  Do(Leave{lease_lost_ ? "no word from the controller for controller_lost_s" : unfit_});
}

void Executor::CheckInvariants() const {
  size_t stand_by = 0;
  for (const auto& [key, run] : runs_) {
    if (key != run.key) throw std::logic_error("a run under another's key");
    stand_by += row_.Waits(key);
    if (row_.Waits(key) && (!run.keeper_holds || run.exit)) {
      throw std::logic_error("a run that the keeper does not hold stands by");
    }
    if (run.exited && run.state != HoldState::kEnded) {
      throw std::logic_error("Exited was sent of a run that has not ended");
    }
    for (const auto& [name, source] : run.sources) {
      if (PlaceOf(source.acked) > PlaceOf(source.sent)) {
        throw std::logic_error("acknowledged more than was sent");
      }
    }
  }
  if (stand_by != row_.size()) throw std::logic_error("an unknown run stands by");
}

}  // namespace hyperopt

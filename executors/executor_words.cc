// What the controller says, and what an executor makes of it.
#include <algorithm>
#include <utility>

#include "executors/executor.h"

namespace hyperopt {

void Executor::On(const FrameCame& event) {
  if (left_) return;
  std::visit([this](const auto& message) { OnMessage(message); }, event.message);
}

void Executor::OnMessage(const Welcome& message) {
  if (!sweep_id_.empty() && sweep_id_ != message.sweep.sweep_id) {
    Do(Leave{"the controller runs another sweep (" + message.sweep.name + ")"});
    left_ = true;
    return;
  }
  const bool first = !welcomed_;
  goodbye_heard_ = quitting_;
  id_ = message.id;
  sweep_id_ = message.sweep.sweep_id;
  timing_ = message.timing;
  welcomed_ = true;
  lease_start_ = std::max(lease_start_, hello_sent_);
  lease_lost_ = false;
  beat_sent_.clear();
  if (first) {
    Do(UseSweep{message});
    Do(TellKeeper{KeeperSettings{
        timing_.controller_lost_s, timing_.stop_grace_s, options_.lost_policy}});
  }
  for (const ExpectedRun& expected : message.expected) {
    Run* run = Find(expected.key);
    if (run == nullptr) {
      Run& harvested = runs_[expected.key];
      harvested.key = expected.key;
      harvested.state = HoldState::kEnded;
      harvested.draining = true;
      harvested.followed = true;
      for (const SourceOffset& at : expected.offsets) {
        harvested.sources[at.source.name] = {at, at, at};
      }
      Do(HarvestRun{expected.key, expected.offsets});
      continue;
    }
    for (const SourceOffset& at : expected.offsets) {
      Source& source = run->sources[at.source.name];
      source.acked = at;
      if (!run->followed) source.sent = source.marked = at;
    }
    if (run->exited)
      run->exited_at_heartbeat = -1;  // say it again with the next answer
    if (run->followed && !run->draining) {
      ApplyAck({expected.key, expected.offsets}, true);
    }
  }
  FollowAdopted();
  Beat();
  LeaveWhenEmpty();
}

// Runs that the keeper held before this life are followed once it is known from where.
void Executor::FollowAdopted() {
  for (auto& [key, run] : runs_) {
    if (!run.adopted || run.followed) continue;
    run.followed = true;
    std::vector<SourceOffset> from;
    for (const auto& [name, source] : run.sources) from.push_back(source.acked);
    Do(FollowRun{key, std::move(from)});
    if (run.exit && !run.draining) {
      run.draining = true;
      Do(DrainRun{key});
    }
  }
}

void Executor::OnMessage(const Answer& message) {
  if (!welcomed_) return;
  const auto sent = beat_sent_.find(message.heartbeat);
  if (sent != beat_sent_.end()) {
    // The lease counts from the sending of the heartbeat that was answered.
    lease_start_ = std::max(lease_start_, sent->second);
    beat_sent_.erase(beat_sent_.begin(), std::next(sent));
  }
  const bool judges_marks =
      mark_beat_ > 0 && message.heartbeat >= mark_beat_ && !message.held;
  for (const Ack& ack : message.acks) ApplyAck(ack, judges_marks);
  if (judges_marks) mark_beat_ = 0;
  for (const RunKey& key : message.ended) {
    if (Run* run = Find(key); run != nullptr && run->exited) Forget(key);
  }
  for (const RunKey& key : message.unknown) {
    Run* run = Find(key);
    if (run == nullptr) continue;
    run->discarded = true;
    if (run->exited || !run->keeper_holds) {
      Forget(key);
    } else {
      Do(TellKeeper{StopRun{key, Reason::kPreempted, 0}});
    }
  }
  if (message.heartbeat > 0 && !message.held) {
    for (auto& [key, run] : runs_) {
      if (run.exited && message.heartbeat > run.exited_at_heartbeat) SendExited(&run);
    }
  }
  LeaveWhenEmpty();
}

void Executor::ApplyAck(const Ack& ack, bool may_rewind) {
  Run* run = Find(ack.key);
  if (run == nullptr || run->discarded) return;
  std::vector<SourceOffset> rewind;
  std::vector<SourceOffset> offsets = ack.offsets;
  for (const auto& [name, source] : run->sources) {
    // What an ack does not name is committed up to its beginning.
    const bool named =
        std::any_of(offsets.begin(), offsets.end(), [&](const SourceOffset& at) {
          return at.source.name == name;
        });
    if (!named) offsets.push_back(SourceOffset{{name, 0}, 0, 0, 0});
  }
  for (const SourceOffset& at : offsets) {
    Source& source = run->sources[at.source.name];
    source.acked = at;
    // What had left before the answered heartbeat has arrived or is lost: one line in
    // order.
    const bool behind =
        std::pair(at.source.generation, at.offset) <
        std::pair(source.marked.source.generation, source.marked.offset);
    if (may_rewind && behind) {
      source.sent = source.marked = at;
      rewind.push_back(at);
    }
  }
  Do(Committed{ack.key, ack.best_step, ack.last_step, ack.further_best});
  if (rewind.empty() || !run->followed) return;
  Do(RewindRun{ack.key, std::move(rewind)});
  if (run->exit) {
    run->exited.reset();
    run->draining = true;
    Do(DrainRun{ack.key});
  }
}

void Executor::OnMessage(const Launch& message) {
  if (!welcomed_ || shutting_down_ || Find(message.key) != nullptr) return;
  const auto over = over_.find({message.key.trial, message.key.run});
  if (over != over_.end() && message.key.attempt <= over->second) return;
  const Room room = message.after ? RoomAfter(*message.after) : Room::kNow;
  if (room == Room::kUnknown) return;
  // Where another stands by already, one of them is not known to the controller.
  if (room == Room::kLater && !row_.Add(message.key, *message.after)) return;
  Run& run = runs_[message.key];
  run.key = message.key;
  run.followed = true;
  if (quitting_) {
    // It leaves: the trial goes back at once, uncounted.
    EndUnstarted(&run, Reason::kPreempted);
    return;
  }
  run.launch = message;
  run.keeper_holds = true;
  if (room == Room::kLater) {
    SayWhyItWaits(&run);
  } else {
    run.launch->after.reset();
  }
  Do(StartRun{*run.launch});
}

void Executor::OnMessage(const Stop& message) {
  Run* run = Find(message.key);
  if (run == nullptr || run->exit || run->exited || run->draining) return;
  if (WaitsHere(*run)) {
    EndUnstarted(run, message.reason);
    return;
  }
  if (message.if_waiting && !row_.Waits(run->key)) return;
  // The keeper may have started it meanwhile, and knows what to do then.
  if (!message.if_waiting) run->state = HoldState::kStopping;
  Do(TellKeeper{
      StopRun{message.key, message.reason, message.grace_s, message.if_waiting}});
}

void Executor::OnMessage(const Shutdown&) {
  shutting_down_ = true;
  StopAll(Reason::kInterrupted, timing_.stop_grace_s);
  LeaveWhenEmpty();
}

void Executor::OnMessage(const Refused& message) {
  left_ = true;
  StopAll(Reason::kInterrupted, timing_.stop_grace_s);
  Do(TellKeeper{KeeperShutdown{}});
  Do(Leave{message.why});
}

// Once a second at most: the controller asks for each frame of a peer it does not know.
void Executor::OnMessage(const HelloAgain&) {
  if (now_ >= next_hello_) SayHello();
}

}  // namespace hyperopt

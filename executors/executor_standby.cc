// Runs that stand by: launched before there is room, each starts in the place of the
// one it was launched after. The keeper has them in hand, so that a place that short
// runs go through is empty for the start of a process alone, not for the way to the
// controller, a commit and the way back. Here is written down what the keeper will say.
#include "executors/executor.h"

namespace hyperopt {

Executor::Room Executor::RoomAfter(const RunKey& key) const {
  if (const auto at = runs_.find(key); at != runs_.end()) {
    const Run& run = at->second;
    if (run.never_placed) return Room::kUnknown;
    if (run.exit || run.exited) return Room::kNow;
    // What waits for a device here is not the keeper's yet.
    return run.keeper_holds ? Room::kLater : Room::kUnknown;
  }
  const auto over = over_.find({key.trial, key.run});
  const bool ended = over != over_.end() && key.attempt <= over->second;
  return ended && !recalled_.contains(key) ? Room::kNow : Room::kUnknown;
}

void Executor::SayWhyItWaits(Run* run) {
  const RunKey& before = row_.Before(run->key);
  run->why = "the place of trial " + std::to_string(before.trial.value());
  run->retry_at = Time::max();
}

// It stands by no more, and never had a place.
void Executor::LeaveRow(Run* run) {
  run->never_placed = true;
  if (const auto behind = row_.Leave(run->key)) SayWhyItWaits(Find(*behind));
}

// Its ranks are gone. The keeper has started who stood behind it, and says so next.
void Executor::LeavePlace(const RunKey& key) {
  if (const auto heir = row_.Free(key)) Find(*heir)->why.clear();
}

}  // namespace hyperopt

// Runs that stand by: launched before there is room, each starts in the place of the
// one it was launched after. So a place that short runs go through is empty for the
// start of a process alone, not for the way to the controller, a commit and the way
// back.
#include "executors/executor.h"

namespace hyperopt {

Executor::Room Executor::RoomAfter(const RunKey& key) const {
  if (const auto at = runs_.find(key); at != runs_.end()) {
    const Run& run = at->second;
    if (run.never_placed) return Room::kUnknown;
    return run.exit || run.exited ? Room::kNow : Room::kLater;
  }
  const auto over = over_.find({key.trial, key.run});
  const bool ended = over != over_.end() && key.attempt <= over->second;
  return ended && !recalled_.contains(key) ? Room::kNow : Room::kUnknown;
}

void Executor::StandBy(Run* run) {
  const RunKey& before = *run->launch->after;
  run->why = "the place of trial " + std::to_string(before.trial.value());
  run->retry_at = Time::max();
  heirs_[before] = run->key;
}

// Its ranks are gone, or it starts no more. REQUIRES: called before its launch is
// forgotten. The second call for a run does nothing.
void Executor::LeavePlace(const Run& run) {
  const bool stood_by = run.launch && run.launch->after;
  if (stood_by) heirs_.erase(*run.launch->after);
  const auto at = heirs_.find(run.key);
  if (at == heirs_.end()) return;
  Run* heir = Find(at->second);
  heirs_.erase(at);
  if (stood_by) {
    heir->launch->after = run.launch->after;
    return StandBy(heir);
  }
  heir->launch->after.reset();
  heir->why.clear();
  heir->keeper_holds = true;
  Do(StartRun{*heir->launch, run.key});
}

}  // namespace hyperopt

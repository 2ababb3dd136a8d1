// All runs of a keeper and the children that fell to it: what is spawned, told, killed
// and reaped when. Knows processes and folders, but no socket and no clock.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executors/internal/exit_words.h"
#include "executors/internal/held_run.h"
#include "executors/internal/process_tree.h"
#include "executors/keeper.h"
#include "executors/standby_row.h"
#include "trial/clock.h"

namespace hyperopt {

class RunSet {
 public:
  explicit RunSet(const std::string& sweep_id);

  // What keeper.h says of the messages. What there is to tell goes to news().
  void Spawn(const SpawnRun& message, Now now);
  void Stop(const StopRun& message, Now now);
  void Release(const RunKey& key);
  void StopAll(Reason reason, double grace_s, Now now);

  // After a SIGCHLD: sees who ended, reaps orphans, ends runs.
  void Collect(Now now);
  // Carries out what is due.
  void OnTime(Now now);
  std::optional<Time> NextDeadline() const;

  // A run that is not ended, or whose end is not on disk yet.
  bool HasUnfinished() const;
  bool HasAlive() const;
  bool empty() const { return runs_.empty(); }
  // So many stand by that an end may be told a little later: no place waits for it.
  bool HasReserve() const {
    return !row_.empty() && row_.size() >= 2 * leaders_.size();
  }
  // Their executor is gone, or another one's came: they do not start.
  void ForgetStandbys();

  // Of KeeperHello: all but pid and sweep id.
  KeeperHello Describe(Now now) const;
  // The news of each run again, for one who has just come.
  void TellAgain();
  std::vector<FromKeeper> TakeNews() { return std::exchange(news_, {}); }

 private:
  struct TreePlace {
    uint64_t start = 0;
    RunKey key;
  };

  void Start(const SpawnRun& message, Now now);
  void StartRanks(const SpawnRun& message, HeldRun* run);
  void StandBy(const SpawnRun& message, Now now);
  void GiveBack(const RunKey& key, Reason reason);
  void BeginStop(HeldRun* run, Reason reason, double grace_s, Now now);
  bool ReapOrphans();
  std::optional<RunKey> OwnerOf(pid_t pid) const;
  std::optional<RunKey> OwnerByToken(pid_t pid) const;
  void Advance(HeldRun* run, Now now);
  void Kill(HeldRun* run, Now now);
  void Cleanup(HeldRun* run, Now now);
  bool CleanedUp(HeldRun* run, Now now);
  void KillStrays() const;
  void Finish(HeldRun* run, Now now);
  void Save(HeldRun* run, Now now);
  void LookAtTree(Now now);
  void TellOne(const HeldRun& run);

  std::string keeper_comm_;
  std::string unborn_comm_;
  std::map<RunKey, HeldRun> runs_;
  StandbyRow row_;
  std::map<RunKey, SpawnRun> waiting_;              // those in the row
  std::map<pid_t, RunKey> leaders_;                 // not reaped
  std::map<pid_t, std::optional<RunKey>> orphans_;  // of a run, or nobody's
  std::map<pid_t, RunKey> cleaners_;                // not reaped
  std::map<pid_t, TreePlace> tree_;                 // as last seen
  std::optional<Time> tree_seen_;
  ChildList children_;
  OomWatch oom_;
  std::vector<FromKeeper> news_;
};

}  // namespace hyperopt

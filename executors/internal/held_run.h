// A run in the keeper's hands.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executors/device_lease.h"
#include "executors/keeper.h"
#include "trial/clock.h"

namespace hyperopt {

// A rank's leader. Once ended it stays a zombie until the run's exit.json is written,
// so its pid, which is its group's and its session's number too, can be no one else's.
struct HeldRank {
  pid_t pid = 0;
  std::string stderr_path;
  bool ended = false;
  std::optional<int32_t> exit_code;  // once ended, one of the two
  std::optional<int32_t> signal;
  int64_t peak_memory = 0;  // bytes
  // To run where it does not end by itself: argv empty for none.
  RankSpec cleanup;
};

enum class RunPhase {
  kAlive,    // a leader or a descendant lives
  kUnsaved,  // all are gone; exit.json can not be written yet
  kEnded,    // exit.json is there; kept until released
};

struct HeldRun {
  // How it was asked for.
  RunKey key;
  std::string dir;
  std::string token;
  int stop_signal = 15;
  double stop_grace_s = 30;
  std::optional<Time> wall_at;      // cleared once passed
  std::vector<DeviceLease> leases;  // until it has ended

  Time spawned;
  std::vector<HeldRank> ranks;
  std::string spawn_error;  // not empty: a rank could not be started
  RunPhase phase = RunPhase::kAlive;

  // Descendants whose parent died: children of the keeper now, alive when last seen.
  std::set<pid_t> orphans;
  std::set<pid_t> told;  // those of them that got the stop signal by themselves

  // Cleanups that run, and until when they are waited for.
  std::set<pid_t> cleaning;
  Time cleaning_until;
  bool cleaned_at_end = false;

  std::optional<Time> kill_at;  // the end of the grace
  bool groups_told = false;     // the stop signal was sent to all ranks' groups
  bool killing = false;         // SIGKILL to whatever is left
  Time kill_again_at;           // while killing
  std::optional<Reason> asked;
  std::optional<size_t> first_failed;  // the rank that failed by itself, before a stop

  ExitInfo info;  // from kUnsaved on
  Time retry_at;  // while kUnsaved

  bool LeadersEnded() const;
  bool HasLeader(pid_t pid) const;
  // Whether what a rank left with somebody else is to be ended.
  bool NeedsCleanup() const;
  // When something is to be done for it, as things stand.
  std::optional<Time> NextDeadline() const;
};

// Looks (waitid, WNOWAIT) which leaders have ended, and which failed first.
void LookAtLeaders(HeldRun* run);

// The stop signal to each rank's group, once.
void TellGroups(HeldRun* run);
// The stop signal, once each, to orphans that are in no rank's group.
void TellStrayOrphans(HeldRun* run);
// SIGKILL to each rank's group and each orphan (and the group that it leads).
// Descendants below a living leader fall to the keeper once it is dead.
void KillAll(HeldRun* run);

// Reaps the zombie leaders. REQUIRES: all have ended; no signal is sent after this.
void ReapLeaders(HeldRun* run);

// Code and signal of the rank that counts: the first that failed by itself, else rank
// 0. REQUIRES: LeadersEnded().
void FillExit(const HeldRun& run, ExitInfo* info);

}  // namespace hyperopt

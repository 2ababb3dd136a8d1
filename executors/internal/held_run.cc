#include "executors/internal/held_run.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>

#include "executors/internal/process_tree.h"

namespace hyperopt {
namespace {

// waitid of glibc has no rusage; the system call has, also without reaping.
bool LookAtChild(pid_t pid, siginfo_t* info, rusage* usage) {
  info->si_pid = 0;
  const long result =
      syscall(SYS_waitid, P_PID, pid, info, WEXITED | WNOHANG | WNOWAIT, usage);
  return result == 0 && info->si_pid == pid;
}

// True where it has ended by now.
bool LookAtRank(HeldRank* rank) {
  siginfo_t info{};
  rusage usage{};
  if (!LookAtChild(rank->pid, &info, &usage)) return false;
  rank->ended = true;
  rank->peak_memory = static_cast<int64_t>(usage.ru_maxrss) * 1024;
  if (info.si_code == CLD_EXITED) {
    rank->exit_code = info.si_status;
  } else {
    rank->signal = info.si_status;
  }
  return true;
}

}  // namespace

bool HeldRun::LeadersEnded() const {
  return std::all_of(
      ranks.begin(), ranks.end(), [](const HeldRank& rank) { return rank.ended; });
}

bool HeldRun::HasLeader(pid_t pid) const {
  return std::any_of(ranks.begin(), ranks.end(), [&](const HeldRank& rank) {
    return rank.pid == pid;
  });
}

bool HeldRun::NeedsCleanup() const {
  // From here on a container's client speaks of itself, not of what ran inside.
  constexpr int32_t kEngineFailed = 125;
  return std::any_of(ranks.begin(), ranks.end(), [&](const HeldRank& rank) {
    return !rank.cleanup.argv.empty() &&
           (killing || rank.signal || rank.exit_code.value_or(0) >= kEngineFailed);
  });
}

std::optional<Time> HeldRun::NextDeadline() const {
  if (phase == RunPhase::kEnded) return std::nullopt;
  if (phase == RunPhase::kUnsaved) return retry_at;
  if (!cleaning.empty() && !killing) return cleaning_until;
  if (killing) return kill_again_at;
  if (kill_at && wall_at) return std::min(*kill_at, *wall_at);
  return kill_at ? kill_at : wall_at;
}

void LookAtLeaders(HeldRun* run) {
  for (size_t i = 0; i < run->ranks.size(); ++i) {
    HeldRank& rank = run->ranks[i];
    if (rank.ended || !LookAtRank(&rank)) continue;
    const bool failed = rank.exit_code != 0;
    // What ends after a stop ends by it, whatever its code.
    if (failed && !run->asked && !run->groups_told && !run->killing &&
        !run->first_failed) {
      run->first_failed = i;
    }
  }
}

void TellGroups(HeldRun* run) {
  if (run->groups_told) return;
  run->groups_told = true;
  for (const HeldRank& rank : run->ranks) kill(-rank.pid, run->stop_signal);
}

void TellStrayOrphans(HeldRun* run) {
  for (const pid_t pid : run->orphans) {
    if (run->told.contains(pid)) continue;
    run->told.insert(pid);
    const std::optional<ProcessStat> stat = ReadProcessStat(pid);
    // Its rank's group was told already; to be told again may break what it does to
    // save itself.
    if (!stat || run->HasLeader(stat->group)) continue;
    kill(stat->group == pid ? -pid : pid, run->stop_signal);
  }
}

void KillAll(HeldRun* run) {
  for (const HeldRank& rank : run->ranks) kill(-rank.pid, SIGKILL);
  for (const pid_t pid : run->orphans) {
    // Only a group that the orphan leads: as long as it is not reaped, the number is
    // taken.
    if (getpgid(pid) == pid) kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
  }
}

void ReapLeaders(HeldRun* run) {
  for (const HeldRank& rank : run->ranks) {
    assert(rank.ended);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(rank.pid), &info, WEXITED | WNOHANG);
  }
}

void FillExit(const HeldRun& run, ExitInfo* info) {
  assert(run.LeadersEnded());
  for (const HeldRank& rank : run.ranks) {
    info->peak_memory = std::max(info->peak_memory, rank.peak_memory);
  }
  if (run.ranks.empty()) return;
  const HeldRank& rank = run.ranks[run.first_failed.value_or(0)];
  info->exit_code = rank.exit_code;
  info->signal = rank.signal;
}

}  // namespace hyperopt

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "executors/internal/process_tree.h"
#include "executors/internal/rank_spawn.h"
#include "executors/keeper.h"
#include "trial/clock.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

// What the kernel can not end in this time (a dead network file system) is left to it.
constexpr Duration kPatience = Seconds(30);
constexpr int kLookAgainMs = 50;
// An exec is over sooner; whoever hides arguments and environment for longer is no
// rank.
constexpr Duration kLongestExec = Seconds(1);

using Stats = std::map<pid_t, ProcessStat>;

// A process and the moment it was born: a name that is never given twice.
using Identity = std::pair<pid_t, uint64_t>;

class Leftovers {
 public:
  Leftovers(const std::string& sweep_id, const std::optional<RunKey>& key)
      : prefix_((key ? TokenFor(sweep_id, *key) : sweep_id) + "-"),
        keeper_(KeeperComm(sweep_id)),
        unborn_(UnbornComm(sweep_id)) {}

  // Those that carry the token, and all below them.
  std::vector<Identity> Find(const Stats& stats) const {
    std::map<pid_t, bool> verdicts;
    std::vector<Identity> found;
    for (const auto& [pid, stat] : stats) {
      if (stat.ending) continue;
      if (IsLeftover(pid, stats, &verdicts)) found.emplace_back(pid, stat.start);
    }
    return found;
  }

  // Somebody's token can not be read yet.
  bool SomebodyExecs(const Stats& stats) const {
    return std::any_of(stats.begin(), stats.end(), [](const auto& entry) {
      const auto& [pid, stat] = entry;
      const bool lives = !stat.ending && !stat.kernel && stat.state != 'Z';
      return lives && pid > 1 && IsOurs(pid) && IsBetweenPrograms(pid);
    });
  }

  // Somebody will carry the token, or fall to us, in a moment: a keeper's socket closes
  // before its children fall to the next above it, and a rank that it was about to
  // start has no environment of its own before its exec. (A keeper of this sweep that
  // is spawning for another executor looks the same, and is soon over.)
  bool MoreToCome(const Stats& stats) const {
    return std::any_of(stats.begin(), stats.end(), [&](const auto& entry) {
      const auto& [pid, stat] = entry;
      if (stat.state == 'Z') return false;
      if (stat.comm == keeper_) return stat.ending;
      return stat.comm == unborn_ && !BelongsToKeeper(stat.parent, stats);
    });
  }

 private:
  bool IsLivingKeeper(const ProcessStat& stat) const {
    return !stat.ending && (stat.comm == keeper_ || stat.comm == unborn_);
  }

  static bool IsOurs(pid_t pid) {
    struct stat status {};
    const std::string path = "/proc/" + std::to_string(pid);
    return stat(path.c_str(), &status) == 0 && status.st_uid == geteuid();
  }

  bool CarriesToken(pid_t pid) const {
    if (!IsOurs(pid)) return false;
    const std::optional<std::string> token = ReadProcessToken(pid);
    return token && token->starts_with(prefix_);
  }

  bool IsLeftover(pid_t pid,
                  const Stats& stats,
                  std::map<pid_t, bool>* verdicts) const {
    if (pid <= 1 || pid == getpid()) return false;
    if (const auto known = verdicts->find(pid); known != verdicts->end()) {
      return known->second;
    }
    const auto stat = stats.find(pid);
    if (stat == stats.end() || stat->second.comm == keeper_) return false;
    bool& verdict = (*verdicts)[pid];  // false while above it is looked at
    verdict = !BelongsToKeeper(pid, stats) &&
              (CarriesToken(pid) ||
               (IsOurs(pid) && IsLeftover(stat->second.parent, stats, verdicts)));
    return verdict;
  }

  bool BelongsToKeeper(pid_t pid, const Stats& stats) const {
    for (auto stat = stats.find(pid); stat != stats.end();
         stat = stats.find(stat->second.parent)) {
      if (IsLivingKeeper(stat->second)) return true;
      if (stat->second.parent == stat->first) break;
    }
    return false;
  }

  std::string prefix_;
  std::string keeper_;
  std::string unborn_;
};

UniqueFd OpenProcess(const Identity& victim) {
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, victim.first, 0)));
}

// The descriptor is the process's own: where the start time fits after it was opened,
// the signal can hit nobody else.
bool Kill(const Identity& victim, const UniqueFd& fd) {
  const auto [pid, start] = victim;
  const std::optional<ProcessStat> stat = ReadProcessStat(pid);
  if (!stat || stat->start != start) return false;
  if (!fd) return kill(pid, SIGKILL) == 0;  // forbidden here, or a kernel before 5.3
  return syscall(SYS_pidfd_send_signal, fd.get(), SIGKILL, nullptr, 0) == 0;
}

// One that was told to die and still lives is not found again where it was known by its
// parent alone, which is dead by now.
bool AnyLives(const std::set<Identity>& told, const Stats& stats) {
  return std::any_of(told.begin(), told.end(), [&](const Identity& victim) {
    const auto stat = stats.find(victim.first);
    return stat != stats.end() && stat->second.start == victim.second &&
           stat->second.state != 'Z';
  });
}

}  // namespace

int KillLeftovers(const std::string& sweep_id, const std::optional<RunKey>& key) {
  const Leftovers leftovers(sweep_id, key);
  std::set<Identity> seen;
  const Time started = ReadClocks().steady;
  while (ReadClocks().steady < started + kPatience) {
    ReapOrphans();
    const Stats stats = ReadAllProcessStats();
    const std::vector<Identity> found = leftovers.Find(stats);
    const bool execs_matter = ReadClocks().steady < started + kLongestExec;
    if (found.empty() && !AnyLives(seen, stats) && !leftovers.MoreToCome(stats) &&
        !(execs_matter && leftovers.SomebodyExecs(stats))) {
      break;
    }
    std::vector<pollfd> ends;
    std::vector<UniqueFd> fds;
    for (const Identity& victim : found) {
      UniqueFd fd = OpenProcess(victim);
      if (Kill(victim, fd)) seen.insert(victim);
      if (fd) ends.push_back({fd.get(), POLLIN, 0});
      fds.push_back(std::move(fd));
    }
    // Readable once the process has ended. One is enough to look again.
    poll(ends.data(), ends.size(), ends.empty() ? 1 : kLookAgainMs);
  }
  ReapOrphans();
  return static_cast<int>(seen.size());
}

void ReapOrphans() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace hyperopt

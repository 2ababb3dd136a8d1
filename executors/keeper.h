// The keeper: the parent of all ranks of an executor. One small process, forked before
// any thread exists, a child subreaper. It spawns, signals, reaps, and renames
// exit.json into the attempt's folder before it tells anybody. It outlives its
// executor: it keeps the ranks for `executor_lost_s` and hands them to the next
// executor that connects, else stops them and exits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "executors/messages.h"
#include "trial/ids.h"

namespace hyperopt {

// One process to start. It becomes the leader of a session (and so of a process group)
// of its own, stdin from /dev/null, signals at their defaults.
struct RankSpec {
  std::vector<std::string> argv;  // argv[0] is looked up in the PATH of `env`
  std::vector<std::string> env;   // the whole environment, "NAME=value"
  std::string cwd;
  std::string stdout_path;  // opened O_APPEND | O_CREAT
  std::string stderr_path;
  std::vector<int32_t> cpus;  // it may run on these only; empty: as the keeper
  // Ends what the rank leaves with somebody else, its container. Run with the rank's
  // environment when the rank is killed and once it has ended other than by itself; the
  // run ends after it, or after half a minute.
  std::vector<std::string> cleanup;
};

// ---- executor to keeper ----

// Starts a run: all ranks, or none (then RunEnded with started == false). A key that is
// held already is not started again, but its RunStarted or RunEnded is said again.
// Program missing, folder missing, command too long: RunEnded with started == false and
// ExitInfo::error; ranks that were started before are killed.
struct SpawnRun {
  RunKey key;
  std::string dir;    // the attempt's folder, exists
  std::string token;  // HYPEROPT_TOKEN without "-<rank>"; the keeper
                      // adds the rank's to each rank's environment
  std::vector<RankSpec> ranks;
  // It stands by: it starts in the place of that run, once that has ended and is on
  // disk; at once where it has already. Where that run is not held, or another stands
  // by for its place, this one is given back: RunEnded, not started, asked for with
  // Reason::kPreempted. Who stands by is held for the executor that said so, no longer,
  // and is no part of KeeperHello.
  std::optional<RunKey> after;
  // Leases (device_lease.h) that the keeper joins and holds until the run has ended.
  std::vector<std::string> leases;
  std::optional<double> wall_limit_s;  // over it: stopped with Reason::kWallLimit
  int stop_signal = 15;
  double stop_grace_s = 30;
};
// Renames stop.json {"reason", "grace_s"} into the folder, sends the run's stop signal
// to every rank's process group, and SIGKILL to all that is left (leaders, descendants,
// also those that changed their group or session) after grace_s. A second one keeps the
// first reason and the earlier deadline. The leader's end never shortens the others'
// grace. What left its rank's group gets the stop signal when it falls to the keeper,
// once all leaders have ended. Where all leaders have ended already, or a rank failed
// by itself, the end is not this stop's: no stop.json, ExitInfo::asked stays empty.
//
// Two more ways to the same signals, without stop.json and without a reason: a rank
// that ends with another code than 0 takes the other ranks along (they would wait for
// it for ever), and once all leaders have ended, descendants that they left behind have
// stop_grace_s. Rank 0's end alone ends nothing.
//
// Who stands by does so no more: RunEnded, not started, asked for with `reason`; who
// was behind it stands behind the one before it. With `if_waiting` that is all: a run
// that has started goes on.
struct StopRun {
  RunKey key;
  Reason reason = Reason::kUser;
  double grace_s = 30;
  bool if_waiting = false;
};
// The run's end is committed: forget it.
struct ReleaseRun {
  RunKey key;
};
// How long the keeper keeps ranks alone, and with what grace it stops them then.
// `finish` lets them end by themselves.
struct KeeperSettings {
  double executor_lost_s = 60;
  double stop_grace_s = 30;
  LostPolicy policy = LostPolicy::kStop;
};
// No run will come any more: exit once the last is gone and released. (Without an
// executor the keeper exits anyway as soon as no run is alive and all exits are on
// disk.)
struct KeeperShutdown {};

using ToKeeper =
    std::variant<SpawnRun, StopRun, ReleaseRun, KeeperSettings, KeeperShutdown>;

// ---- keeper to executor ----

struct RunStarted {
  RunKey key;
  std::vector<int32_t> pids;  // leaders, by rank
};
// exit.json is in the folder; every descendant is gone. ExitInfo's code and signal are
// of the first rank that failed by itself, else of rank 0.
struct RunEnded {
  RunKey key;
  ExitInfo info;
};
// The first word after a connect: all that the keeper holds, ended and unreleased ones
// included. A RunStarted follows for each run that is alive, a RunEnded for each ended.
struct KeeperHello {
  int32_t pid = 0;
  std::string sweep_id;
  std::vector<Holding> holdings;
  std::map<RunKey, std::string> dirs;
  std::map<RunKey, double> running_s;  // since the spawn
};

using FromKeeper = std::variant<KeeperHello, RunStarted, RunEnded>;

// Where a keeper is found: <folder>/keeper.sock and <folder>/keeper.lock (held with
// flock by the living keeper; its text is its pid).
struct KeeperPlace {
  std::filesystem::path folder;  // under 90 bytes, 0700, ours
  std::string sweep_id;
};

// The executor's end of the line to a keeper.
class KeeperLink {
 public:
  virtual ~KeeperLink() = default;
  // To poll for reading.
  virtual int fd() const = 0;
  // Never blocks long: the keeper reads always. False once the keeper is gone.
  virtual bool Send(const ToKeeper& message) = 0;
  // What has come; does not block. `gone` is set once the keeper's end is closed.
  virtual std::vector<FromKeeper> Receive(bool* gone) = 0;
};

// Connects to the living keeper of `place` (whose former executor, if it lives, sees
// its link close), or forks a new one. Hello's pid tells which: a new keeper is a child
// of the caller and holds nothing. Makes the calling process a child subreaper too, so
// that ranks fall to it where its own keeper dies. REQUIRES: no thread was started yet.
// Throws EnvironmentError.
std::unique_ptr<KeeperLink> StartOrAdoptKeeper(const KeeperPlace& place);

// Removes the socket of a keeper that was killed after all its runs had ended, where no
// keeper lives in `folder`; a living one removes its own as it leaves. Never throws.
void RemoveDeadKeepersSocket(const std::filesystem::path& folder);

// Kills (SIGKILL) every process of this user that carries HYPEROPT_TOKEN beginning with
// "<sweep_id>-" and belongs to no living keeper, and waits until they are gone. Checks
// token, uid and start time before each signal. With `key`, only that attempt's.
// Descendants of such a process count as it does, whatever they carry. Gives up on what
// the kernel can not end within 30 s (a dead network file system). Reaps what falls to
// the caller. Returns how many there were. Used at the start of an executor that found
// no living keeper, and after its own keeper died.
int KillLeftovers(const std::string& sweep_id, const std::optional<RunKey>& key = {});

// Reaps every child of the calling process that has ended: the keeper itself, and what
// fell to the executor as a subreaper. For a turn of the executor's loop after a
// SIGCHLD or with the heartbeat; a process that waits for children of its own must not
// call it.
void ReapOrphans();

// "<sweep id>-<trial>-<run>-<attempt>", HYPEROPT_TOKEN without the rank.
std::string TokenFor(const std::string& sweep_id, const RunKey& key);

// exit.json's text and back; nullopt where the file is absent or torn (it is renamed
// into place, so torn means a broken disk).
std::string ExitInfoToJson(const ExitInfo& info);
std::optional<ExitInfo> ReadExitJson(const std::filesystem::path& dir);

}  // namespace hyperopt

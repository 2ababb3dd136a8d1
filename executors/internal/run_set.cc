#include "executors/internal/run_set.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "executors/internal/rank_spawn.h"
#include "trial/errors.h"
#include "trial/failpoint.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

constexpr Duration kRetry = Seconds(1);
constexpr Duration kTreeInterval = Seconds(10);
// A look reads all of /proc; many runs that are stopped at once share one.
constexpr Duration kTreeFresh = Seconds(1);
constexpr Duration kCleanupPatience = Seconds(30);
constexpr size_t kLastWords = 2048;
constexpr size_t kSearchedWords = 16384;

void Complain(std::string_view what) {
  // Standard error is executor.log.
  // Not fmt::print: it throws where the log is on a full disk.
  std::fprintf(stderr, "keeper: %.*s\n", static_cast<int>(what.size()), what.data());
}

void WriteStopJson(const HeldRun& run, double grace_s) {
  const std::string text = fmt::format(
      "{{\"reason\":\"{}\",\"grace_s\":{}}}\n", ToString(*run.asked), grace_s);
  try {
    WriteFileAtomically(run.dir + "/stop.json", text, Durability::kProcess);
  } catch (const EnvironmentError& error) {
    // The signal still says it; a full disk must not keep a trial running.
    Complain(error.what());
  }
}

RankSpec CleanupOf(const RankSpec& rank) {
  RankSpec spec;
  if (rank.cleanup.empty()) return spec;
  spec.argv = rank.cleanup;
  spec.env = rank.env;
  spec.cwd = "/";
  spec.stdout_path = spec.stderr_path = "/dev/null";
  return spec;
}

}  // namespace

RunSet::RunSet(const std::string& sweep_id)
    : keeper_comm_(KeeperComm(sweep_id)), unborn_comm_(UnbornComm(sweep_id)) {}

void RunSet::Spawn(const SpawnRun& message, Now now) {
  if (const auto held = runs_.find(message.key); held != runs_.end()) {
    TellOne(held->second);
    return;
  }
  if (waiting_.contains(message.key)) return;
  if (message.after) return StandBy(message, now);
  Start(message, now);
}

void RunSet::Start(const SpawnRun& message, Now now) {
  HeldRun& run = runs_[message.key];
  run.key = message.key;
  run.dir = message.dir;
  run.token = message.token;
  run.stop_signal = message.stop_signal;
  run.stop_grace_s = message.stop_grace_s;
  run.spawned = now.steady;
  if (message.wall_limit_s) run.wall_at = now.steady + Seconds(*message.wall_limit_s);
  for (const std::string& path : message.leases) {
    if (auto lease = JoinLease(path)) run.leases.push_back(*std::move(lease));
  }
  StartRanks(message, &run);
  if (run.spawn_error.empty()) {
    TellOne(run);
  } else {
    Kill(&run, now);
    Advance(&run, now);
  }
}

void RunSet::StandBy(const SpawnRun& message, Now now) {
  const auto before = runs_.find(*message.after);
  const bool held = before != runs_.end();
  if (held && before->second.phase == RunPhase::kEnded) return Start(message, now);
  const bool known = held || waiting_.contains(*message.after);
  if (known && row_.Add(message.key, *message.after)) {
    waiting_.emplace(message.key, message);
  } else {
    GiveBack(message.key, Reason::kPreempted);
  }
}

void RunSet::GiveBack(const RunKey& key, Reason reason) {
  RunEnded ended{key, {}};
  ended.info.asked = reason;
  ended.info.started = false;
  news_.emplace_back(std::move(ended));
}

void RunSet::ForgetStandbys() {
  waiting_.clear();
  row_ = {};
}

void RunSet::StartRanks(const SpawnRun& message, HeldRun* run) {
  Failpoint("keeper.before_spawn");
  prctl(PR_SET_NAME, unborn_comm_.c_str());
  for (size_t i = 0; i < message.ranks.size(); ++i) {
    const SpawnResult result =
        StartRank(message.ranks[i], fmt::format("{}-{}", message.token, i));
    if (result.pid < 0) {
      run->spawn_error = result.error;
      break;
    }
    leaders_[result.pid] = run->key;
    run->ranks.push_back({.pid = result.pid,
                          .stderr_path = message.ranks[i].stderr_path,
                          .cleanup = CleanupOf(message.ranks[i])});
  }
  prctl(PR_SET_NAME, keeper_comm_.c_str());
  Failpoint("keeper.after_spawn");
}

void RunSet::Stop(const StopRun& message, Now now) {
  if (waiting_.erase(message.key) > 0) {
    row_.Leave(message.key);
    return GiveBack(message.key, message.reason);
  }
  if (message.if_waiting) return;
  const auto held = runs_.find(message.key);
  if (held == runs_.end() || held->second.phase != RunPhase::kAlive) return;
  BeginStop(&held->second, message.reason, message.grace_s, now);
}

void RunSet::StopAll(Reason reason, double grace_s, Now now) {
  for (auto& [key, run] : runs_) {
    if (run.phase == RunPhase::kAlive) BeginStop(&run, reason, grace_s, now);
  }
}

void RunSet::BeginStop(HeldRun* run, Reason reason, double grace_s, Now now) {
  // One that ended by itself a moment ago was not stopped, whoever asks now.
  LookAtLeaders(run);
  const bool by_itself =
      run->LeadersEnded() || run->first_failed || !run->spawn_error.empty();
  if (!by_itself && !run->asked) {
    LookAtTree(now);
    run->asked = reason;
    WriteStopJson(*run, grace_s);
    Failpoint("keeper.after_stop_json");
  }
  TellGroups(run);
  const Time deadline = now.steady + Seconds(grace_s);
  run->kill_at = run->kill_at ? std::min(*run->kill_at, deadline) : deadline;
}

void RunSet::Release(const RunKey& key) {
  const auto held = runs_.find(key);
  // A living run is not forgotten, whatever the executor believes.
  if (held != runs_.end() && held->second.phase == RunPhase::kEnded) runs_.erase(held);
}

void RunSet::Collect(Now now) {
  for (auto& [key, run] : runs_) {
    if (run.phase == RunPhase::kAlive) LookAtLeaders(&run);
  }
  // Read after the leaders: by the time one is seen ended, its children are ours. An
  // orphan's children come to us when it ends, so look again after each round.
  while (ReapOrphans()) {
  }
  for (auto& [key, run] : runs_) {
    if (run.phase == RunPhase::kAlive) Advance(&run, now);
  }
  if (!HasAlive()) KillStrays();
}

bool RunSet::ReapOrphans() {
  bool reaped = false;
  for (const pid_t pid : children_.Read()) {
    if (leaders_.contains(pid)) continue;
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG) == 0 &&
        info.si_pid == pid) {
      reaped = true;
      if (const auto cleaner = cleaners_.find(pid); cleaner != cleaners_.end()) {
        runs_.at(cleaner->second).cleaning.erase(pid);
        cleaners_.erase(cleaner);
        continue;
      }
      const auto known = orphans_.find(pid);
      if (known == orphans_.end()) continue;
      const auto owner = known->second ? runs_.find(*known->second) : runs_.end();
      if (owner != runs_.end()) {
        owner->second.orphans.erase(pid);
        owner->second.told.erase(pid);
      }
      orphans_.erase(known);
    } else if (!orphans_.contains(pid) && !cleaners_.contains(pid)) {
      // Only now, when it is new: later the last run left would look like its owner.
      std::optional<RunKey> owner = OwnerOf(pid);
      if (owner && runs_.at(*owner).phase != RunPhase::kAlive) owner.reset();
      orphans_[pid] = owner;
      if (owner) runs_.at(*owner).orphans.insert(pid);
    }
  }
  return reaped;
}

std::optional<RunKey> RunSet::OwnerByToken(pid_t pid) const {
  const std::optional<std::string> token = ReadProcessToken(pid);
  if (!token) return std::nullopt;
  const std::string_view of_run = std::string_view(*token).substr(0, token->rfind('-'));
  for (const auto& [key, run] : runs_) {
    if (run.token == of_run) return key;
  }
  return std::nullopt;
}

std::optional<RunKey> RunSet::OwnerOf(pid_t pid) const {
  if (const auto owner = OwnerByToken(pid)) return owner;
  const std::optional<ProcessStat> stat = ReadProcessStat(pid);
  if (!stat) return std::nullopt;
  for (const pid_t number : {stat->session, stat->group}) {
    if (const auto leader = leaders_.find(number); leader != leaders_.end()) {
      return leader->second;
    }
  }
  if (const auto place = tree_.find(pid);
      place != tree_.end() && place->second.start == stat->start) {
    if (runs_.contains(place->second.key)) return place->second.key;
  }
  // The only run that was there when it was born, if there is just one.
  std::optional<RunKey> only;
  for (const auto& [leader, key] : leaders_) {
    const std::optional<ProcessStat> born = ReadProcessStat(leader);
    if (!born || born->start > stat->start || only == key) continue;
    if (only) return std::nullopt;
    only = key;
  }
  return only;
}

void RunSet::Advance(HeldRun* run, Now now) {
  if (run->killing) KillAll(run);
  if (run->LeadersEnded() && run->orphans.empty()) {
    if (CleanedUp(run, now)) Finish(run, now);
    return;
  }
  // Ranks that lost one of theirs hang in their next collective; what a leader leaves
  // behind has nobody who waits for it. Both are told, and get the grace.
  if (!run->LeadersEnded() && !run->first_failed) return;
  TellGroups(run);
  if (run->LeadersEnded()) TellStrayOrphans(run);
  if (!run->kill_at) run->kill_at = now.steady + Seconds(run->stop_grace_s);
}

void RunSet::Kill(HeldRun* run, Now now) {
  const bool first = !run->killing;
  run->killing = true;
  run->kill_again_at = now.steady + kRetry;
  KillAll(run);
  if (first) Cleanup(run, now);
}

// A container's client that is killed leaves its container running.
void RunSet::Cleanup(HeldRun* run, Now now) {
  run->cleaning_until = now.steady + kCleanupPatience;
  for (const HeldRank& rank : run->ranks) {
    if (rank.cleanup.argv.empty()) continue;
    const SpawnResult result = StartRank(rank.cleanup, run->token + "-cleanup");
    if (result.pid < 0) {
      Complain(result.error);
      continue;
    }
    run->cleaning.insert(result.pid);
    cleaners_[result.pid] = run->key;
  }
}

// The client is gone. One that was killed while it made its container left one that
// the cleanup beside it did not see yet: this one comes after it.
bool RunSet::CleanedUp(HeldRun* run, Now now) {
  if (!run->cleaned_at_end && run->NeedsCleanup() && run->cleaning.empty()) {
    run->cleaned_at_end = true;
    Cleanup(run, now);
  }
  return run->cleaning.empty();
}

void RunSet::KillStrays() const {
  for (const auto& [pid, owner] : orphans_) kill(pid, SIGKILL);
}

void RunSet::Finish(HeldRun* run, Now now) {
  ExitInfo& info = run->info;
  FillExit(*run, &info);
  info.started = run->spawn_error.empty();
  info.error = run->spawn_error;
  info.asked = run->asked;
  info.wall_limit = run->asked == Reason::kWallLimit;
  info.wall_s = ToSeconds(now.steady - run->spawned);
  info.ended_wall = now.wall;
  if (!info.started) {
    // What the killed ranks ended with is no news of the trial.
    info.exit_code.reset();
    info.signal.reset();
  }
  const bool failed = info.started && info.exit_code != 0 &&
                      (!info.asked || info.wall_limit) && !run->ranks.empty();
  if (failed) {
    const std::string words =
        TailOf(run->ranks[run->first_failed.value_or(0)].stderr_path, kSearchedWords);
    info.device_memory = SaysDeviceMemory(words);
    info.last_words = CleanUtf8(std::string_view(words).substr(
        words.size() - std::min(words.size(), kLastWords)));
    const bool killed =
        (info.signal == SIGKILL && !run->killing) || info.exit_code == 128 + SIGKILL;
    // A leader that outlived a killed worker is believed only where the kernel's count
    // agrees.
    info.host_memory = killed ? oom_.Rose().value_or(true)
                              : SaysKilledWorker(words) && oom_.Rose().value_or(false);
  }
  Save(run, now);
}

void RunSet::Save(HeldRun* run, Now now) {
  const std::string text = ExitInfoToJson(run->info);
  Failpoint("keeper.before_exit_json");
  try {
    WriteFileAtomically(run->dir + "/exit.json", text, Durability::kProcess);
  } catch (const EnvironmentError& error) {
    if (run->phase != RunPhase::kUnsaved) Complain(error.what());
    // A folder that somebody removed must not hold the slot for ever.
    std::error_code ignored;
    std::filesystem::create_directories(run->dir, ignored);
    run->phase = RunPhase::kUnsaved;
    run->retry_at = now.steady + kRetry;
    return;
  }
  ReapLeaders(run);
  for (const HeldRank& rank : run->ranks) leaders_.erase(rank.pid);
  run->phase = RunPhase::kEnded;
  run->leases.clear();
  Failpoint("keeper.after_exit_json");
  TellOne(*run);
  if (const auto heir = row_.Free(run->key))
    Start(waiting_.extract(*heir).mapped(), now);
}

void RunSet::OnTime(Now now) {
  bool long_run = false;
  for (auto& [key, run] : runs_) {
    if (run.phase == RunPhase::kUnsaved && run.retry_at <= now.steady) Save(&run, now);
    if (run.phase != RunPhase::kAlive) continue;
    long_run = long_run || now.steady - run.spawned > kTreeFresh;
    if (run.wall_at && *run.wall_at <= now.steady) {
      run.wall_at.reset();
      BeginStop(&run, Reason::kWallLimit, run.stop_grace_s, now);
    }
    if (run.killing ? run.kill_again_at <= now.steady
                    : run.kill_at && *run.kill_at <= now.steady) {
      Kill(&run, now);
    }
    if (!run.cleaning.empty() && run.cleaning_until <= now.steady) {
      for (const pid_t pid : run.cleaning) kill(pid, SIGKILL);
    }
  }
  if (long_run && (!tree_seen_ || now.steady - *tree_seen_ >= kTreeInterval)) {
    LookAtTree(now);
    oom_.Look();
  }
}

std::optional<Time> RunSet::NextDeadline() const {
  std::optional<Time> next;
  const auto take = [&](Time time) { next = next ? std::min(*next, time) : time; };
  for (const auto& [key, run] : runs_) {
    if (const auto deadline = run.NextDeadline()) take(*deadline);
    // The next look at the tree: not before the run is old enough to be worth one.
    if (run.phase != RunPhase::kAlive) continue;
    const Time old = run.spawned + 2 * kTreeFresh;
    take(tree_seen_ ? std::max(*tree_seen_ + kTreeInterval, old) : old);
  }
  return next;
}

void RunSet::LookAtTree(Now now) {
  if (tree_seen_ && now.steady - *tree_seen_ < kTreeFresh) return;
  tree_seen_ = now.steady;
  const std::map<pid_t, ProcessStat> stats = ReadAllProcessStats();
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, stat] : stats) children.emplace(stat.parent, pid);
  std::vector<std::pair<pid_t, RunKey>> todo(leaders_.begin(), leaders_.end());
  for (const auto& [pid, owner] : orphans_) {
    if (owner) todo.emplace_back(pid, *owner);
  }
  std::erase_if(tree_, [&](const auto& entry) {
    const auto stat = stats.find(entry.first);
    return stat == stats.end() || stat->second.start != entry.second.start;
  });
  while (!todo.empty()) {
    const auto [parent, key] = todo.back();
    todo.pop_back();
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child) {
      tree_[child->second] = {stats.at(child->second).start, key};
      todo.emplace_back(child->second, key);
    }
  }
}

bool RunSet::HasUnfinished() const {
  return std::any_of(runs_.begin(), runs_.end(), [](const auto& entry) {
    return entry.second.phase != RunPhase::kEnded;
  });
}

bool RunSet::HasAlive() const {
  return std::any_of(runs_.begin(), runs_.end(), [](const auto& entry) {
    return entry.second.phase == RunPhase::kAlive;
  });
}

KeeperHello RunSet::Describe(Now now) const {
  KeeperHello hello;
  for (const auto& [key, run] : runs_) {
    const bool stopping = run.kill_at || run.killing;
    const HoldState state = run.phase == RunPhase::kEnded ? HoldState::kEnded
                            : stopping                    ? HoldState::kStopping
                                                          : HoldState::kRunning;
    hello.holdings.push_back({key, state});
    hello.dirs[key] = run.dir;
    hello.running_s[key] = ToSeconds(now.steady - run.spawned);
  }
  return hello;
}

void RunSet::TellOne(const HeldRun& run) {
  if (run.phase == RunPhase::kEnded) {
    news_.emplace_back(RunEnded{run.key, run.info});
  } else if (run.spawn_error.empty()) {
    RunStarted started{run.key, {}};
    for (const HeldRank& rank : run.ranks) started.pids.push_back(rank.pid);
    news_.emplace_back(std::move(started));
  }
}

void RunSet::TellAgain() {
  for (const auto& [key, run] : runs_) TellOne(run);
}

}  // namespace hyperopt

#include "executors/internal/keeper_fixture.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

#include "executors/internal/process_tree.h"
#include "trial/clock.h"
#include "trial/fs.h"

namespace hyperopt {

namespace fs = std::filesystem;

namespace {

constexpr Duration kTooLong = Seconds(60);

}  // namespace

bool WaitUntil(const std::function<bool()>& condition) {
  const Time deadline = ReadClocks().steady + kTooLong;
  while (!condition()) {
    if (ReadClocks().steady > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool IsRunning(pid_t pid) {
  const auto stat = ReadProcessStat(pid);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  for (const auto& [child, stat] : ReadAllProcessStats()) {
    if (stat.parent == pid) children.push_back(child);
  }
  return children;
}

std::string TextOf(const fs::path& path) { return ReadFile(path).value_or(""); }

pid_t AwaitPid(const fs::path& path) {
  std::string text;
  if (!WaitUntil([&] { return (text = TextOf(path)).ends_with('\n'); })) {
    throw std::runtime_error(path.string() + ": no pid came");
  }
  return std::atoi(text.c_str());
}

TestSweep::TestSweep() : id_(RandomHex(8)) {
  folder_ = fs::temp_directory_path() / ("hyperopt keeper " + id_);
  fs::create_directory(folder_);
}

TestSweep::~TestSweep() {
  // Killing by a number from a file is for tests: here it is known whose it is.
  if (KeeperLives()) kill(KeeperPid(), SIGKILL);
  WaitUntil([&] { return !KeeperLives(); });
  KillLeftovers(id_);
  fs::remove_all(folder_);
}

fs::path TestSweep::DirOf(const RunKey& key) const {
  return folder_ / std::to_string(key.trial.value()) /
         std::to_string(key.attempt.value());
}

SpawnRun TestSweep::Script(const RunKey& key, const std::string& script) const {
  return Command(key, {"/bin/sh", "-c", script});
}

SpawnRun TestSweep::Command(const RunKey& key, std::vector<std::string> argv) const {
  const fs::path dir = DirOf(key);
  fs::create_directories(dir);
  SpawnRun spawn;
  spawn.key = key;
  spawn.dir = dir.string();
  spawn.token = TokenFor(id_, key);
  RankSpec rank;
  rank.argv = std::move(argv);
  rank.env = {"PATH=/usr/bin:/bin"};
  rank.cwd = dir.string();
  rank.stdout_path = (dir / "stdout.log").string();
  rank.stderr_path = (dir / "stderr.log").string();
  spawn.ranks.push_back(std::move(rank));
  return spawn;
}

void TestSweep::AddRank(SpawnRun* spawn, const std::string& script) const {
  RankSpec rank = spawn->ranks.front();
  rank.argv = {"/bin/sh", "-c", script};
  rank.stderr_path += std::to_string(spawn->ranks.size());
  spawn->ranks.push_back(std::move(rank));
}

bool TestSweep::KeeperLives() const {
  return FileLock::IsHeld(folder_ / "keeper.lock");
}

pid_t TestSweep::KeeperPid() const { return AwaitPid(folder_ / "keeper.lock"); }

RunKey KeyOf(int trial, int attempt) {
  return {TrialId(trial), RunId(0), Attempt(attempt)};
}

TestExecutor::TestExecutor(const TestSweep& sweep)
    : link_(StartOrAdoptKeeper(sweep.place())) {
  Await([&] { return hello_.pid != 0; });
}

void TestExecutor::Read(int timeout_ms) {
  pollfd poller{link_->fd(), POLLIN, 0};
  if (hello_.pid != 0) poll(&poller, 1, timeout_ms);
  for (FromKeeper& message : link_->Receive(&gone_)) {
    if (auto* hello = std::get_if<KeeperHello>(&message)) {
      hello_ = std::move(*hello);
    } else if (auto* started = std::get_if<RunStarted>(&message)) {
      started_.push_back(std::move(*started));
    } else if (auto* ended = std::get_if<RunEnded>(&message)) {
      ended_[ended->key] = std::move(ended->info);
    }
  }
}

bool TestExecutor::Await(const std::function<bool()>& condition) {
  const Time deadline = ReadClocks().steady + kTooLong;
  while (!condition()) {
    if (gone_ || ReadClocks().steady > deadline) {
      throw std::runtime_error(gone_ ? "the keeper is gone" : "no word of the keeper");
    }
    Read(1000);
  }
  return true;
}

int TestExecutor::StartsOf(const RunKey& key) {
  int count = 0;
  for (const RunStarted& started : started_) count += started.key == key ? 1 : 0;
  return count;
}

std::vector<pid_t> TestExecutor::AwaitStart(const RunKey& key) {
  Await([&] { return StartsOf(key) > 0; });
  for (const RunStarted& started : started_) {
    if (started.key == key) return {started.pids.begin(), started.pids.end()};
  }
  return {};
}

ExitInfo TestExecutor::AwaitEnd(const RunKey& key) {
  Await([&] { return ended_.contains(key); });
  return ended_.at(key);
}

bool TestExecutor::HasEnded(const RunKey& key) {
  Read(0);
  return ended_.contains(key);
}

void TestExecutor::AwaitGone() {
  WaitUntil([&] {
    Read(10);
    return gone_;
  });
}

ExitInfo TestExecutor::Run(const SpawnRun& spawn) {
  Send(spawn);
  ExitInfo info = AwaitEnd(spawn.key);
  Send(ReleaseRun{spawn.key});
  return info;
}

void TestExecutor::Shutdown() {
  Send(KeeperShutdown{});
  AwaitGone();
  if (!gone_) throw std::runtime_error("the keeper does not leave");
  waitpid(hello_.pid, nullptr, 0);
}

}  // namespace hyperopt

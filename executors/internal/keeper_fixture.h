// What the keeper's tests share: a folder with a blank in its name, a sweep, and the
// executor's end of a link, all gone without a trace afterwards.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executors/keeper.h"

namespace hyperopt {

// Looks every millisecond; false after a minute, which only a failing test waits for.
bool WaitUntil(const std::function<bool()>& condition);

// A process that runs (a zombie does not).
bool IsRunning(pid_t pid);
std::vector<pid_t> ChildrenOf(pid_t pid);

std::string TextOf(const std::filesystem::path& path);
// Waits until the file holds a line and reads the number in it.
pid_t AwaitPid(const std::filesystem::path& path);

// Kills what is left of the sweep when it is destroyed.
class TestSweep {
 public:
  TestSweep();
  ~TestSweep();
  TestSweep(const TestSweep&) = delete;
  TestSweep& operator=(const TestSweep&) = delete;

  const std::string& id() const { return id_; }
  const std::filesystem::path& folder() const { return folder_; }
  KeeperPlace place() const { return {folder_, id_}; }
  std::filesystem::path DirOf(const RunKey& key) const;
  // A run of one rank `/bin/sh -c SCRIPT` in the attempt's folder, which is made.
  SpawnRun Script(const RunKey& key, const std::string& script) const;
  // The same with any command.
  SpawnRun Command(const RunKey& key, std::vector<std::string> argv) const;
  void AddRank(SpawnRun* spawn, const std::string& script) const;

  bool KeeperLives() const;
  // From keeper.lock.
  pid_t KeeperPid() const;

 private:
  std::string id_;
  std::filesystem::path folder_;
};

RunKey KeyOf(int trial, int attempt = 1);

class TestExecutor {
 public:
  explicit TestExecutor(const TestSweep& sweep);

  KeeperLink& link() { return *link_; }
  const KeeperHello& hello() const { return hello_; }
  bool gone() const { return gone_; }

  bool Send(const ToKeeper& message) { return link_->Send(message); }
  // Reads on until it came. Nothing else that came is lost.
  std::vector<pid_t> AwaitStart(const RunKey& key);
  ExitInfo AwaitEnd(const RunKey& key);
  void AwaitGone();
  // Without waiting.
  bool HasEnded(const RunKey& key);
  int StartsOf(const RunKey& key);

  // Spawns, awaits the end and releases.
  ExitInfo Run(const SpawnRun& spawn);
  // Ends the keeper in peace and reaps it.
  void Shutdown();

 private:
  void Read(int timeout_ms);
  bool Await(const std::function<bool()>& condition);

  std::unique_ptr<KeeperLink> link_;
  KeeperHello hello_;
  bool gone_ = false;
  std::vector<RunStarted> started_;
  std::map<RunKey, ExitInfo> ended_;
};

}  // namespace hyperopt

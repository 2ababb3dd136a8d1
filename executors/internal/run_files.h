// The files of the runs that an executor holds: which folder is looked at when, and
// what is read from it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <vector>

#include "executors/executor.h"
#include "executors/internal/followed_run.h"
#include "trial/clock.h"
#include "trial/fs.h"

namespace hyperopt {

class RunFiles {
 public:
  using Take = std::function<void(const ExecutorEvent&)>;

  // What is read is handed to `take`, as SourceCame and RunDrained. `take` may call
  // back into this object.
  explicit RunFiles(Take take);

  // The sweep whose folders are looked at, from its welcome on. REQUIRES: `sweep`
  // outlives this object.
  void Use(const SweepSpec* sweep, const std::filesystem::path& sweep_dir);
  // Seconds since the start of runs that an earlier executor started.
  void SetRunning(std::map<RunKey, double> running_s) {
    running_s_ = std::move(running_s);
  }

  // Opens a run's sources at 0.
  FollowedRun& Open(const RunKey& key);
  // Each of the others does nothing for a run that is not open.
  void Drain(const RunKey& key, bool harvest);
  void Rewind(const RewindRun& to);
  void Prune(const Committed& upto);
  void Close(const RunKey& key);

  // To poll for reading; ReadHints() then.
  int fd() const { return inotify_.get(); }
  void ReadHints();
  // Reads what is due. `may_read` says whether a run may be read further now.
  void Look(const std::function<bool(const RunKey&)>& may_read);
  // When Look() has something to do; `latest` where nothing is due before.
  Time NextLook(Time latest) const;

 private:
  static Time Due(const FollowedRun& run);
  std::vector<RunKey> DueRuns(Time now) const;
  void LookAt(FollowedRun* run, Time now);
  void LookAtLogs(const FollowedRun& run) const;

  const Take take_;
  const SweepSpec* sweep_ = nullptr;
  std::filesystem::path sweep_dir_;
  UniqueFd inotify_;
  std::map<RunKey, FollowedRun> runs_;
  std::map<int, RunKey> watches_;
  std::map<RunKey, double> running_s_;
};

}  // namespace hyperopt

#include "executors/internal/run_files.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "executors/keeper.h"
#include "trial/failpoint.h"

namespace hyperopt {
namespace {

// Sizes are the truth, inotify is a hint (network file systems, instance limits).
constexpr double kLookEveryS = 0.25;
// A trial that ends at once is read at its end and never watched.
constexpr double kFirstLookS = 0.02;
// Many reports in a row are one look.
constexpr double kLookAgainS = 0.005;
constexpr double kLookLaterS = 0.05;
constexpr double kLogLookEveryS = 2;
constexpr int64_t kReadAtOnce = 1 << 20;

}  // namespace

RunFiles::RunFiles(Take take)
    : take_(std::move(take)), inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

void RunFiles::Use(const SweepSpec* sweep, const std::filesystem::path& sweep_dir) {
  sweep_ = sweep;
  sweep_dir_ = sweep_dir;
}

FollowedRun& RunFiles::Open(const RunKey& key) {
  FollowedRun& run = runs_[key];
  run.key = key;
  run.dir = AttemptDir(sweep_dir_, key);
  const Time now = ReadClocks().steady;
  const auto ran = running_s_.find(key);
  run.started = now - Seconds(ran == running_s_.end() ? 0 : ran->second);
  run.looked = now;
  run.next_look = now + Seconds(kFirstLookS);
  run.next_log_look = now + Seconds(kLogLookEveryS);
  run.OpenReaders(*sweep_);
  return run;
}

void RunFiles::Drain(const RunKey& key, bool harvest) {
  const auto at = runs_.find(key);
  RunDrained drained{key, {}, std::nullopt};
  if (at != runs_.end()) {
    FollowedRun& run = at->second;
    run.over = true;
    run.Read(
        ReadMode::kToTheEnd, kReadAtOnce, ReadClocks().steady, [&](SourceRead read) {
          take_(SourceCame{key, std::move(read)});
        });
    drained.checkpoints = CompleteCheckpoints(run.dir);
    if (harvest) drained.harvested = ReadExitJson(run.dir);
    LookAtLogs(run);
  }
  take_(drained);
  Failpoint("executor.after_drain");
}

void RunFiles::Rewind(const RewindRun& to) {
  const auto at = runs_.find(to.key);
  if (at == runs_.end()) return;
  at->second.Seek(to.to);
  at->second.touched = true;
}

void RunFiles::Prune(const Committed& upto) {
  const auto at = runs_.find(upto.key);
  if (at == runs_.end()) return;
  FollowedRun& run = at->second;
  if (!run.over && upto.last_step <= run.pruned_step) return;
  run.pruned_step = upto.last_step;
  const int64_t best = sweep_->best_checkpoints, last = sweep_->last_checkpoints;
  if (best == 1 && last == 1) {
    PruneCheckpoints(run.dir, upto.best_step, upto.last_step, {});
    return;
  }
  constexpr int64_t kNoStep = -1;
  std::vector<int64_t> ranking = {upto.best_step};
  ranking.insert(ranking.end(), upto.further_best.begin(), upto.further_best.end());
  PruneCheckpoints(
      run.dir, kNoStep, upto.last_step, KeptCheckpoints(run.dir, ranking, best, last));
}

void RunFiles::Close(const RunKey& key) {
  const auto at = runs_.find(key);
  if (at == runs_.end()) return;
  if (at->second.watch >= 0) {
    inotify_rm_watch(inotify_.get(), at->second.watch);
    watches_.erase(at->second.watch);
  }
  runs_.erase(at);
}

void RunFiles::ReadHints() {
  alignas(inotify_event) char buffer[16384];
  ssize_t got;
  while ((got = ::read(inotify_.get(), buffer, sizeof buffer)) > 0) {
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      const auto key = watches_.find(event->wd);
      if (key != watches_.end()) runs_.at(key->second).touched = true;
      at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
    }
  }
}

Time RunFiles::Due(const FollowedRun& run) {
  if (run.touched) return run.next_look;
  return std::max(run.next_look, run.looked + Seconds(kLookEveryS));
}

Time RunFiles::NextLook(Time latest) const {
  Time due = latest;
  for (const auto& [key, run] : runs_) {
    if (!run.over) due = std::min(due, Due(run));
  }
  return due;
}

std::vector<RunKey> RunFiles::DueRuns(Time now) const {
  std::vector<RunKey> keys;
  for (const auto& [key, run] : runs_) {
    if (!run.over && now >= Due(run)) keys.push_back(key);
  }
  return keys;
}

void RunFiles::Look(const std::function<bool(const RunKey&)>& may_read) {
  if (sweep_dir_.empty()) return;
  const Time now = ReadClocks().steady;
  for (const RunKey& key : DueRuns(now)) {
    FollowedRun& run = runs_.at(key);
    run.looked = now;
    if (may_read(key)) {
      LookAt(&run, now);
    } else {
      // Too far ahead of what is committed, or not told to the keeper yet.
      run.next_look = now + Seconds(kLookLaterS);
    }
  }
}

void RunFiles::LookAt(FollowedRun* run, Time now) {
  run->touched = false;
  run->next_look = now + Seconds(kLookAgainS);
  if (run->watch < 0) {
    run->watch = inotify_add_watch(inotify_.get(), run->dir.c_str(), IN_MODIFY);
    if (run->watch >= 0) watches_[run->watch] = run->key;
  }
  run->Read(ReadMode::kWholeLines, kReadAtOnce, now, [&](SourceRead read) {
    if (read.more) run->touched = true;
    take_(SourceCame{run->key, std::move(read)});
  });
  if (now < run->next_log_look) return;
  run->next_log_look = now + Seconds(kLogLookEveryS);
  LookAtLogs(*run);
}

void RunFiles::LookAtLogs(const FollowedRun& run) const {
  PunchLog(run.dir / kStdoutFile, sweep_->log_limit);
  PunchLog(run.dir / kStderrFile, sweep_->log_limit);
  // Ranks above 0: stdout.1.log, stderr.1.log, ...
  for (int rank = 1;; ++rank) {
    const std::string end = "." + std::to_string(rank) + ".log";
    std::error_code absent;
    if (!std::filesystem::exists(run.dir / ("stdout" + end), absent)) return;
    PunchLog(run.dir / ("stdout" + end), sweep_->log_limit);
    PunchLog(run.dir / ("stderr" + end), sweep_->log_limit);
  }
}

}  // namespace hyperopt

// The executor of this machine: started, awaited, started again, seen off.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "executors/agent.h"
#include "executors/codec.h"
#include "search/internal/sweep_loop.h"
#include "trial/errors.h"

namespace hyperopt::internal {
namespace {

namespace fs = std::filesystem;

constexpr double kChildLookS = 1;
constexpr double kGoodbyeS = 5;
constexpr int kMostRestarts = 5;
constexpr double kRestartsWithinS = 60;
constexpr double kLockOutlivesS = 3;

}  // namespace

void SweepLoop::StartExecutor() {
  if (FileLock::IsHeld(folder_->dir() / "executor.lock")) {
    // One survived its controller: it returns by itself over the same socket path.
    WaitForOldExecutor();
    return;
  }
  executor_pid_ = StartEmbeddedExecutor(embedded_);
  embedded_.fresh = false;
}

void SweepLoop::WaitForOldExecutor() {
  const Time until =
      ReadClocks().steady + Seconds(options_.config.executor.controller_lost_s);
  const auto present = [&] {
    const auto& members = controller_->fleet().members();
    return std::any_of(members.begin(), members.end(), [](const auto& item) {
      return item.second.embedded && item.second.present;
    });
  };
  adopted_ = true;
  while (!end_ && adopted_ && !present()) {
    OneTurn();
    if (!FileLock::IsHeld(folder_->dir() / "executor.lock")) {
      if (!std::exchange(adopted_, false)) return;
      return StartExecutor();
    }
    if (ReadClocks().steady > until) {
      throw EnvironmentError(
          fmt::format("the executor of this folder (pid {}) is alive and does not "
                      "answer; end it and "
                      "run the same line again",
                      ReadFile(folder_->dir() / "executor.lock").value_or("?")));
    }
  }
}

// An executor that survived an earlier controller is nobody's child: its end is seen by
// its lock.
void SweepLoop::LookAfterAdopted() {
  if (!adopted_ || end_ || now_.steady < next_child_look_) return;
  next_child_look_ = now_.steady + Seconds(kChildLookS);
  if (FileLock::IsHeld(folder_->dir() / "executor.lock")) return;
  adopted_ = false;
  RestartExecutor();
}

void SweepLoop::ReapExecutor() {
  int status = 0;
  if (executor_pid_ == 0 || waitpid(executor_pid_, &status, WNOHANG) != executor_pid_) {
    return;
  }
  executor_pid_ = 0;
  if (end_) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kUnfitExit) return GiveUpHere();
  RestartExecutor();
}

// What keeps trials from starting on this machine stays; executors elsewhere may go on.
void SweepLoop::GiveUpHere() {
  const std::string why =
      "no trial can start on this machine:\n" + LastWordsOfExecutor(folder_->dir());
  if (!options_.listen) {
    throw EnvironmentError(why +
                           "\nmend that and type the line again: nothing is lost");
  }
  Say(why);
}

void SweepLoop::RestartExecutor() {
  const Time now = ReadClocks().steady;
  restarts_.push_back(now);
  while (now - restarts_.front() > Seconds(kRestartsWithinS)) restarts_.pop_front();
  if (restarts_.size() > kMostRestarts) {
    throw EnvironmentError("the executor ends again and again; its last words:\n" +
                           LastWordsOfExecutor(folder_->dir()));
  }
  Say("the executor of this machine ended; starting it again");
  // A process that it was about to start can hold its lock for a moment longer.
  const Time until = now + Seconds(kLockOutlivesS);
  while (FileLock::IsHeld(folder_->dir() / "executor.lock") &&
         ReadClocks().steady < until) {
    Poll(0.01);
  }
  executor_pid_ = StartEmbeddedExecutor(embedded_);
}

// The embedded executor leaves once it was told; what it says meanwhile is answered
// with the same word, since sends get lost.
void SweepLoop::SayGoodbye() {
  const Time until = ReadClocks().steady + Seconds(kGoodbyeS);
  const auto lock = folder_->dir() / "executor.lock";
  const auto stays = [&] {
    return executor_pid_ != 0 || (adopted_ && FileLock::IsHeld(lock));
  };
  while (stays() && ReadClocks().steady < until) {
    Poll(0.05);
    ReapExecutor();
    while (const std::optional<Frame> frame = transport_->ReceiveFromExecutor()) {
      transport_->SendToExecutor(frame->peer, Encode(ToExecutor(Shutdown{})));
    }
  }
}

}  // namespace hyperopt::internal

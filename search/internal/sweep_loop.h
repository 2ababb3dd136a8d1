// The loop around the controller: sockets, clock, signals, the record and the executor
// of this machine.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "executors/transport.h"
#include "search/controller.h"
#include "search/hooks.h"
#include "search/internal/embedded_executor.h"
#include "search/internal/request_desk.h"
#include "search/internal/view_refresher.h"
#include "search/keep.h"
#include "search/loggers.h"
#include "search/record_start.h"
#include "search/run.h"
#include "search/sweep_folder.h"
#include "trial/loop_signals.h"

namespace hyperopt::internal {

class SweepLoop {
 public:
  explicit SweepLoop(RunOptions options)
      : options_(std::move(options)), signals_(BlockLoopSignals()) {
    signal(SIGPIPE, SIG_IGN);
  }
  int Run();

 private:
  // From its start to its end: search/run.cc.
  void RunToEnd();
  void AwaitOthers();
  void Prepare();
  void SayAmended();
  void CheckWorkdir() const;
  void CopyCode();
  void TidyUp();
  // Turns: sweep_loop.cc.
  void OneTurn();
  void Poll(double most_s);
  void ReadSignals();
  void ReadFrames();
  void CommitAndSend(Turn turn);
  void HoldBack(const std::string& why);
  void HoldFrame(const Peer& peer, std::string_view bytes);
  // The executor of this machine: loop_executor.cc.
  void StartExecutor();
  void WaitForOldExecutor();
  void ReapExecutor();
  void RestartExecutor();
  void GiveUpHere();
  void LookAfterAdopted();
  void SayGoodbye();

  void Feed(const ControllerEvent& event) { controller_->Handle(event, now_); }
  void Say(const std::string& line) { progress_->Say(line); }
  void HearLoggers();

  RunOptions options_;
  UniqueFd signals_;
  std::optional<Progress> progress_;
  std::optional<SweepFolder> folder_;
  OpenedRecord record_;
  Resources local_;
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<Scheduler> scheduler_;
  std::optional<Controller> controller_;
  std::unique_ptr<ServerTransport> transport_;
  std::optional<RequestDesk> desk_;
  std::optional<HookRunner> hooks_;
  std::optional<LoggerProcesses> loggers_;
  std::unique_ptr<FileKeeper> keeper_;
  std::optional<ViewRefresher> view_;
  EmbeddedOptions embedded_;
  std::filesystem::path sockets_;
  std::deque<Frame> backlog_;  // of a time in which the record could not be written
  size_t backlog_bytes_ = 0;
  Time next_child_look_;
  Now now_;
  pid_t executor_pid_ = 0;
  bool adopted_ = false;  // the executor is of an earlier controller
  std::deque<Time> restarts_;
  int interrupts_ = 0;
  std::string held_why_;  // said already
  bool more_frames_ = false;
  std::optional<SweepEnd> end_;
};

}  // namespace hyperopt::internal

#include "search/run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <deque>
#include <map>
#include <utility>

#include "executors/agent.h"
#include "executors/codec.h"
#include "executors/transport.h"
#include "search/commands/best.h"
#include "search/controller.h"
#include "search/hooks.h"
#include "search/internal/embedded_executor.h"
#include "search/internal/loop_start.h"
#include "search/internal/request_desk.h"
#include "search/internal/view_refresher.h"
#include "search/keep.h"
#include "search/limits.h"
#include "search/record_start.h"
#include "search/sweep_folder.h"
#include "trial/errors.h"
#include "trial/failpoint.h"
#include "trial/loop_signals.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFramesATurn = 2000;
constexpr double kRetryCommitS = 1;
constexpr size_t kMostBacklog = 256 << 20;
constexpr double kChildLookS = 1;
constexpr double kGoodbyeS = 5;
constexpr int kMostRestarts = 5;
constexpr double kRestartsWithinS = 60;

class SweepLoop {
 public:
  explicit SweepLoop(RunOptions options)
      : options_(std::move(options)), signals_(BlockLoopSignals()) {
    signal(SIGPIPE, SIG_IGN);
  }
  int Run();

 private:
  void RunToEnd();
  void AwaitHooks();
  void Prepare();
  void SayAmended();
  void CopyCode();
  void TidyUp();
  void StartExecutor();
  void WaitForOldExecutor();
  void OneTurn();
  void Poll(double most_s);
  void ReadSignals();
  void ReadFrames();
  void ReapExecutor();
  void RestartExecutor();
  void GiveUpHere();
  void LookAfterAdopted();
  void CommitAndSend(Turn turn);
  void HoldBack(const std::string& why);
  void HoldFrame(const Peer& peer, std::string_view bytes);
  void SayGoodbye();
  void Feed(const ControllerEvent& event) { controller_->Handle(event, now_); }
  void Say(const std::string& line) { progress_->Say(line); }

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
  std::optional<internal::RequestDesk> desk_;
  std::optional<HookRunner> hooks_;
  std::unique_ptr<FileKeeper> keeper_;
  std::optional<internal::ViewRefresher> view_;
  EmbeddedOptions embedded_;
  fs::path sockets_;
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

int SweepLoop::Run() {
  try {
    RunToEnd();
  } catch (const Error& error) {
    if (hooks_ && controller_)
      hooks_->OnEnd(*controller_, {error.code(), error.what()}, now_);
    AwaitHooks();
    throw;
  }
  AwaitHooks();
  return static_cast<int>(end_->code);
}

void SweepLoop::RunToEnd() {
  Prepare();
  while (!end_) OneTurn();
  SayGoodbye();
  TidyUp();
  WriteBest(folder_->dir());
  record_.store.reset();
  transport_.reset();
  // ZeroMQ leaves its socket files behind.
  for (const char* name : {"executors.sock", "requests.sock"}) {
    std::error_code gone_already;
    fs::remove(sockets_ / name, gone_already);
  }
  progress_->End(*end_, *controller_, folder_->dir(), now_);
  hooks_->OnEnd(*controller_, *end_, now_);
}

void SweepLoop::AwaitHooks() {
  folder_.reset();  // free for the next
  if (hooks_) hooks_->Finish(signals_.get());
}

void SweepLoop::Prepare() {
  now_ = ReadClocks();
  SearchConfig& config = options_.config;
  progress_.emplace(options_.progress, stdout, config);
  const std::vector<std::string> command = internal::CommandOf(config);
  local_ = LocalResources(options_.resources);
  internal::DecideGpus(local_, &config);
  if (options_.local_executor && !options_.listen) {
    internal::RefuseWhatNeverFits(config.executor.resources, local_);
  }
  ServerOptions server = internal::CheckedServer(options_);
  scheduler_ = MakeScheduler(config.scheduler, config.goal, config.sampler.seed);
  folder_.emplace(SweepFolder::Take(options_.dir));
  record_ = OpenRecord(&*folder_, config, options_.old);
  for (const std::string& line : ApplyLimits(&record_.snapshot.sweep, &config)) {
    Say(line);
  }
  internal::AddSamples(options_.more_samples, &record_.snapshot, &config);
  sampler_ = MakeSampler(config.space, config.sampler);
  for (const std::string& note : config.notes) Say("note: " + note);
  for (const std::string& note : record_.notes) Say(note);
  CopyCode();
  sockets_ = folder_->MakeSockets(record_.snapshot.sweep.id);
  server.folder = sockets_;
  transport_ = OpenServer(server);
  if (!transport_->tcp_endpoint().empty()) {
    Say("executors may join at " + transport_->tcp_endpoint());
  }
  ControllerStart start =
      MakeControllerStart(config,
                          &record_,
                          folder_->dir(),
                          command,
                          {sampler_->needs_history(), options_.rerun_failed});
  hooks_.emplace(config, folder_->dir(), start.sweep.config_dir);
  controller_.emplace(config, *sampler_, *scheduler_, std::move(start), now_);
  desk_.emplace(transport_.get(), &*controller_);
  keeper_ = FileKeeper::Make(
      config, folder_->dir(), controller_->trials(), record_.store.get());
  view_.emplace(config, folder_->database());
  SayAmended();
  const SweepCounts counts = controller_->Counts();
  Say(fmt::format(
      "{} in {}: {} trials{}",
      config.name,
      folder_->dir().string(),
      counts.planned,
      record_.fresh ? "" : fmt::format(", {} finished before", counts.finished())));
  embedded_ = {folder_->dir(),
               sockets_,
               record_.snapshot.sweep.id,
               "ipc://" + (sockets_ / "executors.sock").string(),
               record_.fresh,
               options_.resources};
  // A finished sweep needs no executor: the first turn says so.
  CommitAndSend(controller_->TakeTurn(now_));
  if (!end_ && options_.local_executor) StartExecutor();
  view_->Refresh();
}

void SweepLoop::CopyCode() {
  const SearchConfig& config = options_.config;
  if (config.workdir != "snapshot") return;
  const fs::path config_dir = config.file.empty()
                                  ? fs::current_path()
                                  : fs::absolute(config.file).parent_path();
  for (const std::string& line : MakeSnapshot(
           folder_->dir(), config_dir, options_.code_of, &record_.snapshot.sweep)) {
    Say(line);
  }
}

// What an interrupted sweep leaves is tidied up by its next start.
void SweepLoop::TidyUp() {
  const int before = interrupts_;
  if (keeper_ && end_->code != ExitCode::kInterrupted) {
    keeper_->Finish(record_.store.get(), [&] {
      Poll(0);
      return interrupts_ == before;
    });
  }
  keeper_.reset();
  view_->Refresh();
}

void SweepLoop::SayAmended() {
  if (record_.amended.empty()) return;
  for (const std::string& line : record_.amended) Say("amended: " + line);
  const int64_t stopped = controller_->BeginEra(record_.amended, now_);
  if (stopped == 0) return;
  Say(fmt::format("amended: {} unfinished trials lie outside of it and are stopped",
                  stopped));
}

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

void SweepLoop::Poll(double most_s) {
  std::array<pollfd, 2> fds{
      {{signals_.get(), POLLIN, 0}, {transport_->fd(), POLLIN, 0}}};
  const int wait =
      more_frames_ ? 0 : std::max(0, static_cast<int>(most_s * 1000 + 0.999));
  ::poll(fds.data(), fds.size(), wait);
  if (fds[0].revents != 0) ReadSignals();
}

void SweepLoop::OneTurn() {
  Poll(ToSeconds(controller_->next_tick() - ReadClocks().steady));
  now_ = ReadClocks();
  ReadFrames();
  desk_->Read(now_);
  Feed(TimePassed{});
  CommitAndSend(controller_->TakeTurn(now_));
  LookAfterAdopted();
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

void SweepLoop::ReadFrames() {
  more_frames_ = false;
  for (size_t n = 0;; ++n) {
    if (n == kFramesATurn) {
      more_frames_ = true;
      return;
    }
    std::optional<Frame> frame;
    if (!backlog_.empty()) {
      frame = std::move(backlog_.front());
      backlog_bytes_ -= frame->bytes.size();
      backlog_.pop_front();
    } else {
      frame = transport_->ReceiveFromExecutor();
    }
    if (!frame) return;
    for (const std::string_view part : SplitFrames(frame->bytes)) {
      std::optional<FromExecutor> message = DecodeFromExecutor(part);
      if (message) Feed(PeerSaid{frame->peer, std::move(*message)});
    }
  }
}

void SweepLoop::ReadSignals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) {
      ReapExecutor();
      continue;
    }
    now_ = ReadClocks();
    progress_->OnInterrupt(++interrupts_);
    Feed(StopAsked{interrupts_ == 1 ? StopKind::kInterrupt : StopKind::kKill});
  }
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
  if (!options_.listen) throw EnvironmentError(why);
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
  executor_pid_ = StartEmbeddedExecutor(embedded_);
}

void SweepLoop::CommitAndSend(Turn turn) {
  const auto send = [&] {
    std::map<Peer, std::vector<std::string>> frames;
    for (const SendTo& to : turn.sends) frames[to.peer].push_back(Encode(to.message));
    for (const auto& [peer, list] : frames) {
      transport_->SendToExecutor(peer, JoinFrames(list));
    }
  };
  const bool too_early = Defective("send_before_commit");
  if (too_early) send();
  const Time began = ReadClocks().steady;
  Failpoint("controller.before_commit");
  const size_t decided = turn.changes.size();
  if (keeper_) keeper_->AddTo(&turn.changes);
  while (!turn.changes.empty()) {
    try {
      record_.store->Commit(turn.changes);
      break;
    } catch (const EnvironmentError& error) {
      const double waited = ToSeconds(ReadClocks().steady - began);
      if (waited > options_.config.executor.store_wait_s) {
        throw EnvironmentError(
            std::string(error.what()) +
            "\nNothing that was recorded is lost: run the same line again "
            "to go on.");
      }
      HoldBack(error.what());
    }
  }
  if (!held_why_.empty()) {
    held_why_.clear();
    progress_->Warn("the record can be written again");
  }
  Failpoint("controller.after_commit");
  if (!too_early) send();
  if (keeper_) keeper_->Committed();
  desk_->Committed();
  Failpoint("controller.after_send");
  progress_->OnTurn(std::span(turn.changes).first(decided), *controller_, now_);
  view_->OnTurn(controller_->Counts().finished());
  hooks_->OnTurn(*controller_, now_);
  if (turn.end) end_ = turn.end;
}

// The record can not be written: nothing new is decided or ordered. Heartbeats are
// answered, so that leases hold and trials go on; other frames wait.
void SweepLoop::HoldBack(const std::string& why) {
  if (held_why_ != why) {
    held_why_ = why;
    progress_->Warn(
        "the record can not be written, trials go on, trying again each second: " +
        why);
  }
  more_frames_ = false;
  const Time until = ReadClocks().steady + Seconds(kRetryCommitS);
  while (ReadClocks().steady < until) {
    Poll(0.1);
    desk_->Held(why, ReadClocks());
    hooks_->OnHeld(*controller_, why, ReadClocks());
    if (interrupts_ > 1)
      throw EnvironmentError(why + "\nRun the same line again to go on.");
    while (std::optional<Frame> frame = transport_->ReceiveFromExecutor()) {
      for (const std::string_view part : SplitFrames(frame->bytes)) {
        HoldFrame(frame->peer, part);
      }
    }
  }
}

void SweepLoop::HoldFrame(const Peer& peer, std::string_view bytes) {
  std::optional<FromExecutor> message = DecodeFromExecutor(bytes);
  // A Hello is said again each second.
  if (!message || std::holds_alternative<Hello>(*message)) return;
  if (!std::holds_alternative<Heartbeat>(*message)) {
    // Beyond the bound a frame is lost, and said again after the next answer.
    if (backlog_bytes_ + bytes.size() > kMostBacklog) return;
    backlog_bytes_ += bytes.size();
    backlog_.push_back({peer, std::string(bytes)});
    return;
  }
  const std::optional<SendTo> answer =
      controller_->AnswerWhileHeld(PeerSaid{peer, std::move(*message)});
  if (answer) transport_->SendToExecutor(answer->peer, Encode(answer->message));
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

}  // namespace

fs::path SweepDir(const SearchConfig& config, const std::optional<fs::path>& output) {
  return fs::absolute(output ? *output : fs::path("results") / config.name);
}

int RunSweep(RunOptions options) { return SweepLoop(std::move(options)).Run(); }

}  // namespace hyperopt

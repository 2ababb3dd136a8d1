#include "search/internal/sweep_loop.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "executors/codec.h"
#include "trial/errors.h"
#include "trial/failpoint.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kFramesATurn = 2000;
constexpr double kRetryCommitS = 1;
constexpr size_t kMostBacklog = 256 << 20;

}  // namespace

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
  HearLoggers();
  if (turn.end) end_ = turn.end;
}

void SweepLoop::HearLoggers() {
  loggers_->OnTurn(now_.steady, [this](const std::string& line, bool loud) {
    loud ? progress_->Warn(line) : progress_->Say(line);
  });
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

}  // namespace hyperopt::internal

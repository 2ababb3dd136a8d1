#include "executors/internal/keeper_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

#include "executors/internal/keeper_socket.h"

namespace hyperopt {
namespace {

// An exit that can not be written holds a keeper that nobody asks any more for as long
// as a controller waits for its disk (store_wait_s).
constexpr Duration kUnsavedAlone = Seconds(600);
// Nobody waits for the word that a run has started: it goes along with the next, so
// that a short run wakes the executor once.
constexpr Duration kStartedWaits = Seconds(0.02);
// Nor for the ends of short runs, where enough others stand by: several are one turn
// of the executor, one frame, one commit and one answer.
constexpr Duration kEndedWaits = Seconds(0.004);

sigset_t AllButFaults() {
  sigset_t set;
  sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS}) {
    sigdelset(&set, fault);
  }
  return set;
}

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

void BlockSignalsOfKeeper() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) ::signal(signal, SIG_DFL);
  const sigset_t blocked = AllButFaults();
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

KeeperServer::KeeperServer(KeeperBirth birth)
    : birth_(std::move(birth)),
      executor_(std::move(birth_.executor)),
      runs_(birth_.sweep_id) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  signals_.Reset(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

void KeeperServer::Run() {
  Now now = ReadClocks();
  Welcome(now);
  while (!Done(now)) {
    const Ready ready = Wait(now);
    now = ReadClocks();
    if (ready.executor) ReadMessages(now);
    if (ready.newcomer) Accept(now);
    if (ready.children) CollectChildren();
    runs_.OnTime(now);
    SendNews(now);
    if (!executor_) WhileAlone(now);
  }
  // While the lock is still held: the next keeper binds the same path.
  unlink(birth_.socket_path.c_str());
}

bool KeeperServer::Done(Now now) const {
  if (executor_) return shutdown_ && runs_.empty();
  if (!runs_.HasUnfinished()) return true;
  return !runs_.HasAlive() && alone_since_ &&
         now.steady - *alone_since_ > kUnsavedAlone;
}

KeeperServer::Ready KeeperServer::Wait(Now now) const {
  std::optional<Time> deadline = runs_.NextDeadline();
  if (alone_since_ && !stopped_all_) {
    const Time lost = *alone_since_ + Seconds(settings_.executor_lost_s);
    deadline = deadline ? std::min(*deadline, lost) : lost;
  }
  if (flush_at_) deadline = deadline ? std::min(*deadline, *flush_at_) : *flush_at_;
  int timeout_ms = -1;
  if (deadline) {
    const double ms = std::ceil(ToSeconds(*deadline - now.steady) * 1e3);
    timeout_ms = static_cast<int>(std::clamp(ms, 0.0, 60e3));
  }
  const auto out = static_cast<short>(blocked_ ? POLLOUT : 0);
  std::array<pollfd, 3> fds = {
      pollfd{signals_.get(), POLLIN, 0},
      pollfd{birth_.listener.get(), POLLIN, 0},
      pollfd{executor_.get(), static_cast<short>(POLLIN | out), 0},
  };
  if (poll(fds.data(), fds.size(), timeout_ms) <= 0) return {};
  return {fds[0].revents != 0, fds[1].revents != 0, fds[2].revents != 0};
}

void KeeperServer::Accept(Now now) {
  UniqueFd newcomer(
      accept4(birth_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!newcomer) return;
  if (PeerUid(newcomer.get()) != geteuid()) return;
  // One executor at a time, and the newest: the one before has lost its controller or
  // its life.
  executor_ = std::move(newcomer);
  Welcome(now);
}

void KeeperServer::Welcome(Now now) {
  alone_since_.reset();
  in_ = FrameReader();
  ForgetUnsent();
  shutdown_ = false;
  runs_.ForgetStandbys();
  runs_.TakeNews();
  GrowBuffers(executor_.get());
  KeeperHello hello = runs_.Describe(now);
  hello.pid = getpid();
  hello.sweep_id = birth_.sweep_id;
  AppendFrame(FromKeeper(std::move(hello)), &out_);
  runs_.TellAgain();
  SendNews(now);
  Flush();  // the newcomer waits for the hello
}

void KeeperServer::CollectChildren() {
  // Emptied before looking, so that what ends meanwhile wakes the next turn. One
  // SIGCHLD stands for any number of ends.
  signalfd_siginfo info{};
  if (read(signals_.get(), &info, sizeof(info)) < 0) return;
  // Its own clock: what was spawned in this turn did not end before it began.
  runs_.Collect(ReadClocks());
}

void KeeperServer::ReadMessages(Now now) {
  if (!executor_) return;
  const bool open = ReadAvailable(executor_.get(), &in_);
  while (const auto body = in_.Next()) {
    std::optional<ToKeeper> message = DecodeToKeeper(*body);
    if (message) Handle(*message, now);
  }
  if (!open || in_.broken()) LoseExecutor(now);
}

void KeeperServer::Handle(ToKeeper& message, Now now) {
  std::visit(Overloaded{
                 [&](SpawnRun& m) { runs_.Spawn(m, now); },
                 [&](StopRun& m) { runs_.Stop(m, now); },
                 [&](ReleaseRun& m) { runs_.Release(m.key); },
                 [&](KeeperSettings& m) { settings_ = m; },
                 [&](KeeperShutdown&) { shutdown_ = true; },
             },
             message);
}

void KeeperServer::SendNews(Now now) {
  std::optional<Duration> wait;
  for (const FromKeeper& message : runs_.TakeNews()) {
    // Without an executor it is not lost: a run's news is told again to the next.
    if (!executor_) continue;
    AppendFrame(message, &out_);
    const bool ended = std::holds_alternative<RunEnded>(message);
    if (ended || !wait) wait = ended ? kEndedWaits : kStartedWaits;
    may_hold_ = may_hold_ && (!ended || runs_.HasReserve());
  }
  if (out_.empty()) return;
  if (wait) flush_at_ = std::min(flush_at_.value_or(Time::max()), now.steady + *wait);
  const bool due = flush_at_ && now.steady >= *flush_at_;
  if (blocked_ || !may_hold_ || due) Flush();
}

void KeeperServer::Flush() {
  flush_at_.reset();
  may_hold_ = true;
  // Where the other end is gone, reading says so in the next turn.
  if (executor_) SendAvailable(executor_.get(), &out_);
  blocked_ = executor_ && !out_.empty();
}

void KeeperServer::ForgetUnsent() {
  out_.clear();
  flush_at_.reset();
  may_hold_ = true;
  blocked_ = false;
}

void KeeperServer::LoseExecutor(Now now) {
  executor_.Reset();
  in_ = FrameReader();
  ForgetUnsent();
  runs_.ForgetStandbys();
  alone_since_ = now.steady;
}

void KeeperServer::WhileAlone(Now now) {
  if (stopped_all_ || settings_.policy == LostPolicy::kFinish || !alone_since_) return;
  if (now.steady - *alone_since_ < Seconds(settings_.executor_lost_s)) return;
  runs_.StopAll(Reason::kInterrupted, settings_.stop_grace_s, now);
  runs_.OnTime(now);
  stopped_all_ = true;
}

}  // namespace hyperopt

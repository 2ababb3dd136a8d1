#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "executors/internal/keeper_server.h"
#include "executors/internal/keeper_socket.h"
#include "executors/internal/keeper_wire.h"
#include "executors/internal/rank_spawn.h"
#include "executors/keeper.h"
#include "trial/clock.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

// How long a keeper may take to answer or to leave, before a person is asked.
constexpr Duration kPatience = Seconds(10);
constexpr int kSendPatienceMs = 1000;
constexpr char kSocketName[] = "keeper.sock";
constexpr char kLockName[] = "keeper.lock";

class SocketLink final : public KeeperLink {
 public:
  explicit SocketLink(UniqueFd fd) : fd_(std::move(fd)) { GrowBuffers(fd_.get()); }

  int fd() const override { return fd_.get(); }

  bool Send(const ToKeeper& message) override {
    AppendFrame(message, &out_);
    if (!SendAvailable(fd_.get(), &out_)) return false;
    // The keeper reads between two spawns, so this is short. One that is stopped gets
    // the rest with the next call.
    while (!out_.empty()) {
      pollfd poller{fd_.get(), POLLOUT, 0};
      if (poll(&poller, 1, kSendPatienceMs) <= 0) return true;
      if (!SendAvailable(fd_.get(), &out_)) return false;
    }
    return true;
  }

  std::vector<FromKeeper> Receive(bool* gone) override {
    bool open = ReadAvailable(fd_.get(), &in_);
    std::vector<FromKeeper> messages;
    while (const auto body = in_.Next()) {
      std::optional<FromKeeper> message = DecodeFromKeeper(*body);
      if (message) {
        messages.push_back(std::move(*message));
      } else {
        open = false;  // a keeper of another build: no word of it can be relied on
      }
    }
    if (open && !out_.empty()) open = SendAvailable(fd_.get(), &out_);
    if (!open || in_.broken()) *gone = true;
    return messages;
  }

 private:
  UniqueFd fd_;
  FrameReader in_;
  std::string out_;
};

// Gives out the Hello that was read ahead.
class AdoptedLink final : public KeeperLink {
 public:
  AdoptedLink(std::unique_ptr<SocketLink> link, std::vector<FromKeeper> read)
      : link_(std::move(link)), read_(std::move(read)) {}
  int fd() const override { return link_->fd(); }
  bool Send(const ToKeeper& message) override { return link_->Send(message); }
  std::vector<FromKeeper> Receive(bool* gone) override {
    std::vector<FromKeeper> messages = std::exchange(read_, {});
    for (FromKeeper& message : link_->Receive(gone)) {
      messages.push_back(std::move(message));
    }
    return messages;
  }

 private:
  std::unique_ptr<SocketLink> link_;
  std::vector<FromKeeper> read_;
};

void CloseRange(unsigned first, unsigned last) {
  if (first > last || close_range(first, last, 0) == 0) return;
  // A kernel before 5.9.
  const auto end = static_cast<unsigned>(sysconf(_SC_OPEN_MAX));
  for (unsigned fd = first; fd <= last && fd < end; ++fd) close(static_cast<int>(fd));
}

// Whoever held descriptors of ours must see them closed when we die, not when the
// keeper does.
void CloseAllBut(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned next = 3;
  for (const int fd : kept) {
    if (fd < 3) continue;
    if (static_cast<unsigned>(fd) > next)
      CloseRange(next, static_cast<unsigned>(fd) - 1);
    next = static_cast<unsigned>(fd) + 1;
  }
  CloseRange(next, ~0U);
}

[[noreturn]] void BeKeeper(KeeperBirth birth) {
  BlockSignalsOfKeeper();
  setsid();
  CloseAllBut({birth.lock.fd(), birth.listener.get(), birth.executor.get()});
  if (const int null = open("/dev/null", O_RDONLY | O_CLOEXEC); null >= 0) {
    dup2(null, STDIN_FILENO);
    close(null);
  }
  // Not to hold the folder that the executor was started in.
  if (chdir("/") != 0) _exit(3);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, KeeperComm(birth.sweep_id).c_str());
  // An exception can end up nowhere but here: the keeper's stack has no main.
  try {
    birth.lock.WriteText(std::to_string(getpid()) + "\n");
    KeeperServer(std::move(birth)).Run();
  } catch (const std::exception& error) {
    const std::string text = std::string("keeper: ") + error.what() + "\n";
    [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    _exit(3);
  }
  _exit(0);
}

std::unique_ptr<SocketLink> ForkKeeper(const KeeperPlace& place,
                                       const std::filesystem::path& socket_path,
                                       FileLock lock) {
  UniqueFd listener = ListenAt(socket_path);
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data())) {
    ThrowFileError(socket_path, "no pair of sockets can be made", errno);
  }
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  // A signal to the group must not find the child with the executor's handlers.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  const int error = errno;
  if (pid != 0) sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) ThrowFileError(socket_path, "its keeper can not be forked", error);
  if (pid == 0) {
    ours.Reset();
    BeKeeper({place.sweep_id,
              std::filesystem::absolute(socket_path).string(),
              std::move(lock),
              std::move(listener),
              std::move(theirs)});
  }
  return std::make_unique<SocketLink>(std::move(ours));
}

// nullptr where the keeper left before it said a word.
std::unique_ptr<KeeperLink> AwaitHello(std::unique_ptr<SocketLink> link,
                                       const KeeperPlace& place,
                                       Time deadline) {
  bool gone = false;
  std::vector<FromKeeper> read;
  while (!gone && read.empty()) {
    const double left = ToSeconds(deadline - ReadClocks().steady);
    if (left <= 0) return nullptr;
    pollfd poller{link->fd(), POLLIN, 0};
    poll(&poller, 1, static_cast<int>(left * 1e3) + 1);
    read = link->Receive(&gone);
  }
  if (read.empty()) return nullptr;
  const auto* hello = std::get_if<KeeperHello>(&read.front());
  assert(hello != nullptr);
  if (hello->sweep_id != place.sweep_id) {
    throw EnvironmentError((place.folder / "keeper.lock").string() +
                           ": held by the keeper of another sweep, process " +
                           std::to_string(hello->pid));
  }
  return std::make_unique<AdoptedLink>(std::move(link), std::move(read));
}

}  // namespace

std::unique_ptr<KeeperLink> StartOrAdoptKeeper(const KeeperPlace& place) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::filesystem::path socket_path = place.folder / kSocketName;
  const std::filesystem::path lock_path = place.folder / kLockName;
  const Time deadline = ReadClocks().steady + kPatience;
  while (ReadClocks().steady < deadline) {
    if (auto fd = ConnectTo(socket_path)) {
      auto link =
          AwaitHello(std::make_unique<SocketLink>(std::move(*fd)), place, deadline);
      if (link) return link;
    } else if (auto lock = FileLock::TryAcquire(lock_path)) {
      auto link =
          AwaitHello(ForkKeeper(place, socket_path, std::move(*lock)), place, deadline);
      if (link) return link;
    }
    // One is about to listen, or to leave.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::string pid = ReadFile(lock_path).value_or("");
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  throw EnvironmentError(lock_path.string() + ": its holder, process " + pid +
                         ", does not answer, or is of another build; wait until its "
                         "trials have ended, or end it");
}

void RemoveDeadKeepersSocket(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / kSocketName, ignored)) return;
  try {
    const auto lock = FileLock::TryAcquire(folder / kLockName);
    if (lock) std::filesystem::remove(folder / kSocketName, ignored);
  } catch (const Error&) {
    // A folder that can not be written: the next sweep with this name says so.
  }
}

}  // namespace hyperopt

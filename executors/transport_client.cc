#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "executors/internal/zmq_sockets.h"
#include "executors/internal/zmq_waker.h"
#include "executors/transport.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

using internal::ReceivePart;
using internal::SendBytes;
using internal::View;
using Clock = std::chrono::steady_clock;

void RequireEndpoint(const std::string& endpoint) {
  if (endpoint.starts_with("ipc://")) {
    internal::IpcEndpoint(endpoint.substr(6));
    return;
  }
  const bool is_tcp = endpoint.starts_with("tcp://") && endpoint.rfind(':') > 6;
  if (!is_tcp) {
    throw ConfigError(
        fmt::format("{}: not an endpoint; tcp://HOST:PORT or ipc:///PATH", endpoint));
  }
}

zmq::socket_t Connect(zmq::context_t& context,
                      const std::string& endpoint,
                      const std::optional<KeyFile>& keys) {
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  internal::SetCommonOptions(socket);
  socket.set(zmq::sockopt::reconnect_ivl, 50);
  socket.set(zmq::sockopt::reconnect_ivl_max, 1000);
  // Nothing is queued for a connection that is not there: what waited for a dead
  // controller would be stale news for the next.
  socket.set(zmq::sockopt::immediate, true);
  const bool is_tcp = endpoint.starts_with("tcp://");
  if (is_tcp) {
    socket.set(zmq::sockopt::connect_timeout, 10'000);
    socket.set(zmq::sockopt::heartbeat_ivl, 5'000);
    socket.set(zmq::sockopt::heartbeat_timeout, 20'000);
    socket.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
  }
  if (is_tcp && keys) {
    internal::RequireCurve();
    socket.set(zmq::sockopt::curve_serverkey, keys->server_public);
    socket.set(zmq::sockopt::curve_publickey, keys->client_public);
    socket.set(zmq::sockopt::curve_secretkey, keys->client_secret);
  }
  try {
    socket.connect(endpoint);
  } catch (const zmq::error_t& error) {
    throw ConfigError(fmt::format("{}: {}", endpoint, error.what()));
  }
  return socket;
}

// Frames that wait for a connection, bounded.
class Backlog {
 public:
  bool empty() const { return waiting_.empty(); }
  void Clear() {
    waiting_.clear();
    bytes_ = 0;
  }
  // Beyond the bounds the newest is a lost send. A heartbeat takes the place of one
  // that waits: only the newest says how things are.
  void Add(std::string_view frame, bool is_heartbeat) {
    if (is_heartbeat) {
      std::erase_if(waiting_, [&](const Waiting& w) {
        if (w.is_heartbeat) bytes_ -= w.frame.size();
        return w.is_heartbeat;
      });
    } else if (waiting_.size() >= kMostFrames || bytes_ + frame.size() > kMostBytes) {
      return;
    }
    bytes_ += frame.size();
    waiting_.push_back({std::string(frame), is_heartbeat});
  }
  void SendTo(zmq::socket_t& socket) {
    while (!waiting_.empty() && SendBytes(socket, waiting_.front().frame, false)) {
      bytes_ -= waiting_.front().frame.size();
      waiting_.pop_front();
    }
  }

 private:
  static constexpr size_t kMostFrames = 10'000;
  static constexpr size_t kMostBytes = 64 << 20;
  struct Waiting {
    std::string frame;
    bool is_heartbeat = false;
  };
  std::deque<Waiting> waiting_;
  size_t bytes_ = 0;
};

// A thread that no signal is delivered to: they are the loop's.
template <typename Function>
std::thread StartWithoutSignals(Function function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(function));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

// The loop sends and receives on the socket itself: a thread in between that hands each
// frame on cost more CPU than the rest of its way (115 us a round trip against 46), and
// a short trial has 300 for everything. ZeroMQ allows a socket to pass from thread to
// thread behind a lock; nothing that is done under this one waits.
class Client final : public ClientTransport {
 public:
  Client(const std::string& endpoint, const std::optional<KeyFile>& keys)
      : keys_(keys), wire_(Connect(context_, endpoint, keys)) {
    waker_.Watch(wire_);
    pulse_ = StartWithoutSignals([this] { Pulse(); });
  }
  ~Client() override {
    {
      const std::lock_guard lock(mutex_);
      quit_ = true;
    }
    changed_.notify_all();
    pulse_.join();
  }

  int fd() override {
    const std::lock_guard lock(mutex_);
    waker_.NoteWaiting(wire_);
    return waker_.fd();
  }

  std::optional<std::string> Receive() override {
    const std::lock_guard lock(mutex_);
    zmq::message_t frame;
    while (ReceivePart(wire_, frame)) {
      if (!frame.more()) return std::string(View(frame));
      while (frame.more() && ReceivePart(wire_, frame)) {
      }
    }
    waker_.NoteDrained(wire_);
    // The connection may just have been made.
    FlushBacklog();
    return std::nullopt;
  }

  void Send(std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    Put(bytes, false);
  }

  void SendHeartbeat(std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    heartbeat_ = bytes;
    // Not announced to the other thread: it wakes when the one before would have been
    // due, and sees then.
    due_ = Clock::now() + interval_;
    Put(bytes, true);
  }

  void SetHeartbeatInterval(double seconds) override {
    {
      const std::lock_guard lock(mutex_);
      interval_ = std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(std::clamp(seconds, 0.001, 86400.0)));
      due_ = Clock::now() + interval_;
    }
    changed_.notify_all();
  }

  void Reconnect(const std::string& endpoint) override {
    RequireEndpoint(endpoint);
    const std::lock_guard lock(mutex_);
    zmq::socket_t next = Connect(context_, endpoint, keys_);
    backlog_.Clear();
    waker_.NoteDrained(wire_);
    waker_.Forget(wire_);
    wire_.set(zmq::sockopt::linger, 0);
    wire_ = std::move(next);
    waker_.Watch(wire_);
  }

 private:
  void Put(std::string_view bytes, bool is_heartbeat) {
    FlushBacklog();
    if (!backlog_.empty() || !SendBytes(wire_, bytes, false)) {
      const bool is_first = backlog_.empty();
      backlog_.Add(bytes, is_heartbeat);
      if (is_first) changed_.notify_all();
    }
  }
  void FlushBacklog() {
    if (!backlog_.empty()) backlog_.SendTo(wire_);
  }

  // The other thread: repeats the last heartbeat where the loop stands still, and sends
  // what waits for a connection where the loop does not look.
  void Pulse() {
    std::unique_lock lock(mutex_);
    Clock::duration pause = kFirstPause;
    while (!quit_) {
      pause = backlog_.empty() ? kFirstPause : std::min(2 * pause, kLongestPause);
      changed_.wait_until(
          lock, backlog_.empty() ? due_ : std::min(due_, Clock::now() + pause));
      if (quit_) break;
      FlushBacklog();
      if (Clock::now() >= due_) {
        due_ = Clock::now() + interval_;
        if (!heartbeat_.empty()) Put(heartbeat_, true);
      }
      waker_.NoteWaiting(wire_);  // the loop may be asleep on the descriptor
    }
  }

  static constexpr Clock::duration kFirstPause = std::chrono::milliseconds(2);
  static constexpr Clock::duration kLongestPause = std::chrono::milliseconds(250);

  zmq::context_t context_{1};
  const std::optional<KeyFile> keys_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_ from here on.
  zmq::socket_t wire_;
  internal::ZmqWaker waker_;
  Backlog backlog_;
  std::string heartbeat_;  // empty: none yet
  Clock::duration interval_ = std::chrono::seconds(2);
  Clock::time_point due_ = Clock::now() + std::chrono::seconds(2);
  bool quit_ = false;

  std::thread pulse_;
};

}  // namespace

std::unique_ptr<ClientTransport> OpenClient(const std::string& endpoint,
                                            const std::optional<KeyFile>& keys) {
  RequireEndpoint(endpoint);
  return std::make_unique<Client>(endpoint, keys);
}

std::optional<std::string> Ask(const std::filesystem::path& folder,
                               std::string_view request,
                               double timeout_s) {
  const std::filesystem::path path = folder / internal::kRequestsSocket;
  const std::string endpoint = internal::IpcEndpoint(path);
  if (!internal::SomebodyListens(path)) return std::nullopt;
  zmq::context_t context(1);
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  internal::SetCommonOptions(socket);
  socket.set(zmq::sockopt::linger, 0);
  socket.connect(endpoint);
  if (!SendBytes(socket, request, false)) return std::nullopt;
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeout_s);
  zmq::message_t answer;
  while (!ReceivePart(socket, answer)) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    zmq_pollitem_t item{socket.handle(), 0, ZMQ_POLLIN, 0};
    zmq_poll(&item, 1, left.count());
  }
  return std::string(View(answer));
}

}  // namespace hyperopt

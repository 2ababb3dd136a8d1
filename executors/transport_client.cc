#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <thread>
#include <utility>

#include "executors/internal/zmq_sockets.h"
#include "executors/transport.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

using internal::ReceivePart;
using internal::SendBytes;
using internal::SendPart;
using internal::View;
using Clock = std::chrono::steady_clock;

constexpr char kInside[] = "inproc://loop";
// Frames that wait for a connection; beyond it the newest are lost sends.
constexpr size_t kLongestBacklog = 10'000;
constexpr size_t kLargestBacklog = 64 << 20;

// What the loop may tell the thread besides frames: a part with the word, then a part.
constexpr std::string_view kHeartbeat = "heartbeat";
constexpr std::string_view kInterval = "interval";
constexpr std::string_view kReconnect = "reconnect";
constexpr std::string_view kQuit = "quit";

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
  socket.connect(endpoint);
  return socket;
}

// The thread's side: owns the connection. Each round takes all that has come from both
// sides, so that a burst costs one wake-up.
class Courier {
 public:
  Courier(zmq::context_t& context, zmq::socket_t wire, std::optional<KeyFile> keys)
      : context_(context),
        wire_(std::move(wire)),
        loop_(context, zmq::socket_type::pair),
        keys_(std::move(keys)) {
    loop_.set(zmq::sockopt::linger, 0);
    loop_.set(zmq::sockopt::sndhwm, 0);
    loop_.connect(kInside);
  }

  void Run() {
    while (!quit_) {
      Wait();
      FromLoop();
      RepeatHeartbeat();
      Flush();
      FromWire();
    }
    Flush();
  }

 private:
  struct Waiting {
    zmq::message_t frame;
    bool is_heartbeat = false;
  };

  void Wait() {
    const short wire_events =
        backlog_.empty() ? ZMQ_POLLIN : short{ZMQ_POLLIN | ZMQ_POLLOUT};
    zmq_pollitem_t items[] = {{loop_.handle(), 0, ZMQ_POLLIN, 0},
                              {wire_.handle(), 0, wire_events, 0}};
    zmq_poll(items, 2, TimeoutMs());
  }

  // Until the last heartbeat is to be repeated; for ever where there is none.
  long TimeoutMs() const {
    if (heartbeat_.size() == 0) return -1;
    const auto left = due_ - Clock::now();
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    return std::max<long>(0, ms);
  }

  void FromLoop() {
    zmq::message_t part;
    while (ReceivePart(loop_, part)) {
      if (!part.more()) {
        Enqueue(std::move(part), false);
        continue;
      }
      zmq::message_t argument;
      if (!ReceivePart(loop_, argument)) return;
      Obey(View(part), argument);
    }
  }

  void Obey(std::string_view word, zmq::message_t& argument) {
    if (word == kHeartbeat) {
      heartbeat_.copy(argument);
      due_ = Clock::now() + interval_;
      Enqueue(std::move(argument), true);
    } else if (word == kInterval) {
      interval_ = std::chrono::milliseconds(std::stoll(std::string(View(argument))));
      due_ = std::min(due_, Clock::now() + interval_);
    } else if (word == kReconnect) {
      ConnectAgain(std::string(View(argument)));
    } else if (word == kQuit) {
      quit_ = true;
    }
  }

  void ConnectAgain(const std::string& endpoint) {
    backlog_.clear();
    backlog_bytes_ = 0;
    try {
      zmq::socket_t next = Connect(context_, endpoint, keys_);
      wire_.set(zmq::sockopt::linger, 0);
      wire_ = std::move(next);
    } catch (const zmq::error_t&) {
      // Not an address after all (a lock file half written): the old one stays, and the
      // loop, which hears nothing, tries again.
    }
  }

  void RepeatHeartbeat() {
    if (heartbeat_.size() == 0 || Clock::now() < due_) return;
    due_ = Clock::now() + interval_;
    zmq::message_t again;
    again.copy(heartbeat_);
    Enqueue(std::move(again), true);
  }

  void Enqueue(zmq::message_t frame, bool is_heartbeat) {
    if (is_heartbeat) {
      // Only the newest says how things are.
      std::erase_if(backlog_, [&](const Waiting& w) {
        if (w.is_heartbeat) backlog_bytes_ -= w.frame.size();
        return w.is_heartbeat;
      });
    }
    const bool is_full = backlog_.size() >= kLongestBacklog ||
                         backlog_bytes_ + frame.size() > kLargestBacklog;
    if (is_full && !is_heartbeat) return;
    backlog_bytes_ += frame.size();
    backlog_.push_back({std::move(frame), is_heartbeat});
  }

  void Flush() {
    while (!backlog_.empty()) {
      const size_t size = backlog_.front().frame.size();
      if (!SendPart(wire_, backlog_.front().frame, false)) return;
      backlog_bytes_ -= size;
      backlog_.pop_front();
    }
  }

  void FromWire() {
    zmq::message_t frame;
    while (ReceivePart(wire_, frame)) {
      const bool is_whole = !frame.more();
      while (frame.more() && ReceivePart(wire_, frame)) {
      }
      if (is_whole) SendPart(loop_, frame, false);
    }
  }

  zmq::context_t& context_;
  zmq::socket_t wire_;
  zmq::socket_t loop_;
  std::optional<KeyFile> keys_;
  std::deque<Waiting> backlog_;
  size_t backlog_bytes_ = 0;
  zmq::message_t heartbeat_;  // empty: none yet
  Clock::duration interval_ = std::chrono::seconds(2);
  Clock::time_point due_;
  bool quit_ = false;
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

class Client final : public ClientTransport {
 public:
  Client(const std::string& endpoint, const std::optional<KeyFile>& keys)
      : courier_end_(context_, zmq::socket_type::pair) {
    courier_end_.set(zmq::sockopt::linger, 1000);
    courier_end_.set(zmq::sockopt::sndhwm, 0);
    courier_end_.set(zmq::sockopt::rcvhwm, 0);
    courier_end_.bind(kInside);
    auto courier =
        std::make_unique<Courier>(context_, Connect(context_, endpoint, keys), keys);
    thread_ = StartWithoutSignals([courier = std::move(courier)] { courier->Run(); });
  }
  ~Client() override {
    Tell(kQuit, "");
    thread_.join();
  }

  int fd() const override { return courier_end_.get(zmq::sockopt::fd); }
  std::optional<std::string> Receive() override {
    zmq::message_t frame;
    if (!ReceivePart(courier_end_, frame)) return std::nullopt;
    return std::string(View(frame));
  }
  void Send(std::string_view bytes) override { SendBytes(courier_end_, bytes, false); }
  void SendHeartbeat(std::string_view bytes) override { Tell(kHeartbeat, bytes); }
  void SetHeartbeatInterval(double seconds) override {
    const double ms = std::clamp(seconds, 0.001, 86400.0) * 1000;
    Tell(kInterval, std::to_string(static_cast<int64_t>(ms)));
  }
  void Reconnect(const std::string& endpoint) override {
    RequireEndpoint(endpoint);
    Tell(kReconnect, endpoint);
  }

 private:
  void Tell(std::string_view word, std::string_view argument) {
    SendBytes(courier_end_, word, true);
    SendBytes(courier_end_, argument, false);
  }

  zmq::context_t context_{1};
  zmq::socket_t courier_end_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ClientTransport> OpenClient(const std::string& endpoint,
                                            const std::optional<KeyFile>& keys) {
  RequireEndpoint(endpoint);
  try {
    return std::make_unique<Client>(endpoint, keys);
  } catch (const zmq::error_t& error) {
    throw EnvironmentError(fmt::format("{}: {}", endpoint, error.what()));
  }
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

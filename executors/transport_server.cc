#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
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

constexpr char kZapDomain[] = "hyperopt";

// "HOST:PORT" of a listen address, the port as ZeroMQ wants it.
struct Address {
  std::string host;
  std::string port;
};

Address ParseListen(const std::string& listen) {
  std::string_view rest = listen;
  const auto refuse = [&] {
    return ConfigError(fmt::format(
        "{}: not an address to listen on; write tcp://HOST:PORT, with port 0 for any",
        listen));
  };
  if (!rest.starts_with("tcp://")) throw refuse();
  rest.remove_prefix(6);
  const size_t colon = rest.rfind(':');
  if (colon == rest.npos || colon == 0) throw refuse();
  Address address{std::string(rest.substr(0, colon)),
                  std::string(rest.substr(colon + 1))};
  if (address.host == "localhost") address.host = "127.0.0.1";
  if (address.port == "0") address.port = "*";
  if (address.port != "*") {
    int port = 0;
    const char* end = address.port.data() + address.port.size();
    const auto [stop, error] = std::from_chars(address.port.data(), end, port);
    if (error != std::errc() || stop != end || port < 1 || port > 65535) throw refuse();
  }
  return address;
}

bool IsLoopback(const std::string& host) {
  if (host == "[::1]" || host == "::1") return true;
  // Digits and dots only: 127.evil.example is a name.
  return host.starts_with("127.") &&
         host.find_first_not_of("0123456789.") == std::string::npos;
}

// A socket file that nobody listens on is left from a killed controller and goes; one
// that somebody listens on is not stolen (ZeroMQ would).
void RequireFree(const std::filesystem::path& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return;
  if (!S_ISSOCK(info.st_mode)) {
    throw EnvironmentError(fmt::format("{}: in the way, and no socket", path.native()));
  }
  if (internal::SomebodyListens(path)) {
    throw EnvironmentError(
        fmt::format("{}: another process listens here", path.native()));
  }
}

void Bind(zmq::socket_t& socket, const std::string& endpoint) {
  try {
    socket.bind(endpoint);
  } catch (const zmq::error_t& error) {
    throw EnvironmentError(fmt::format("{}: {}", endpoint, error.what()));
  }
}

void BindIpc(zmq::socket_t& socket, const std::filesystem::path& path) {
  const std::string endpoint = internal::IpcEndpoint(path);
  RequireFree(path);
  Bind(socket, endpoint);
  chmod(path.c_str(), 0600);
}

class Server final : public ServerTransport {
 public:
  explicit Server(const ServerOptions& options)
      : executors_(context_, zmq::socket_type::router),
        requests_(context_, zmq::socket_type::router) {
    for (zmq::socket_t* socket : {&executors_, &requests_}) {
      internal::SetCommonOptions(*socket);
      socket->set(zmq::sockopt::router_mandatory, 1);
    }
    BindIpc(executors_, options.folder / internal::kExecutorsSocket);
    BindIpc(requests_, options.folder / internal::kRequestsSocket);
    if (options.listen) Listen(*options.listen, options.keys);
    waker_.Watch(executors_);
    waker_.Watch(requests_);
    if (zap_) waker_.Watch(zap_);
  }

  int fd() override {
    waker_.NoteWaiting(executors_);
    waker_.NoteWaiting(requests_);
    return waker_.fd();
  }

  std::optional<Frame> ReceiveFromExecutor() override {
    if (auto frame = Receive(executors_)) return frame;
    if (zap_) {
      AnswerZap();
      if (auto frame = Receive(executors_)) return frame;
    }
    waker_.NoteDrained(executors_);
    return std::nullopt;
  }
  bool SendToExecutor(const Peer& peer, std::string_view bytes) override {
    return Send(executors_, peer, bytes);
  }
  std::optional<Frame> ReceiveRequest() override {
    if (auto frame = Receive(requests_)) return frame;
    waker_.NoteDrained(requests_);
    return std::nullopt;
  }
  bool SendReply(const Peer& peer, std::string_view bytes) override {
    return Send(requests_, peer, bytes);
  }
  std::string tcp_endpoint() const override { return tcp_endpoint_; }

 private:
  // Options hold for the binds that follow, so ipc stays plain (the folder is 0700) and
  // tcp gets CURVE, on one socket.
  void Listen(const std::string& listen, const std::optional<KeyFile>& keys) {
    const Address address = ParseListen(listen);
    if (!keys && !IsLoopback(address.host)) {
      throw ConfigError(fmt::format(
          "{}: would let other hosts in, and there are no keys; make some with "
          "`hyperopt keygen FILE` and name the file with --key here and on each "
          "executor, or listen on tcp://127.0.0.1",
          listen));
    }
    if (keys) RequireKeys(*keys);
    executors_.set(zmq::sockopt::ipv6, address.host.find(':') != std::string::npos);
    executors_.set(zmq::sockopt::heartbeat_ivl, 5'000);
    executors_.set(zmq::sockopt::heartbeat_timeout, 20'000);
    Bind(executors_, "tcp://" + address.host + ":" + address.port);
    tcp_endpoint_ = executors_.get(zmq::sockopt::last_endpoint);
  }

  void RequireKeys(const KeyFile& keys) {
    internal::RequireCurve();
    admitted_.resize(32);
    zmq_z85_decode(reinterpret_cast<uint8_t*>(admitted_.data()),
                   keys.client_public.c_str());
    zap_ = zmq::socket_t(context_, zmq::socket_type::rep);
    zap_.set(zmq::sockopt::linger, 0);
    // Bound before tcp is: ZeroMQ admits everybody where no handler is.
    zap_.bind("inproc://zeromq.zap.01");
    executors_.set(zmq::sockopt::curve_server, true);
    executors_.set(zmq::sockopt::curve_secretkey, keys.server_secret);
    executors_.set(zmq::sockopt::zap_domain, std::string(kZapDomain));
  }

  // ZeroMQ asks here about each peer that wants in (RFC 27): [version, request, domain,
  // address, routing id, mechanism, credentials...]; 200 lets it in.
  void AnswerZap() {
    zmq::message_t part;
    while (ReceivePart(zap_, part)) {
      std::vector<std::string> parts = {std::string(View(part))};
      while (part.more() && ReceivePart(zap_, part)) parts.emplace_back(View(part));
      const bool well_formed = parts.size() == 7 && parts[0] == "1.0";
      const bool admitted = well_formed && parts[2] == kZapDomain &&
                            parts[5] == "CURVE" && parts[6] == admitted_;
      const std::string request = parts.size() > 1 ? parts[1] : "";
      for (const std::string& word : {std::string("1.0"),
                                      request,
                                      std::string(admitted ? "200" : "400"),
                                      std::string(admitted ? "OK" : "unknown key"),
                                      std::string()}) {
        SendBytes(zap_, word, true);
      }
      SendBytes(zap_, "", false);
    }
  }

  static std::optional<Frame> Receive(zmq::socket_t& socket) {
    zmq::message_t peer;
    zmq::message_t body;
    while (ReceivePart(socket, peer)) {
      int parts = 1;
      for (bool more = peer.more(); more; more = body.more(), ++parts) {
        if (!ReceivePart(socket, body)) return std::nullopt;
      }
      // Anything else was sent by no program of ours.
      if (parts == 2) return Frame{std::string(View(peer)), std::string(View(body))};
    }
    return std::nullopt;
  }

  static bool Send(zmq::socket_t& socket, const Peer& peer, std::string_view bytes) {
    return SendBytes(socket, peer, true) && SendBytes(socket, bytes, false);
  }

  zmq::context_t context_{1};
  zmq::socket_t zap_;  // outlives executors_: see RequireKeys
  zmq::socket_t executors_;
  zmq::socket_t requests_;
  internal::ZmqWaker waker_;
  std::string admitted_;  // the client's public key, 32 bytes
  std::string tcp_endpoint_;
};

}  // namespace

std::unique_ptr<ServerTransport> OpenServer(const ServerOptions& options) {
  try {
    return std::make_unique<Server>(options);
  } catch (const zmq::error_t& error) {
    throw EnvironmentError(fmt::format("ZeroMQ: {}", error.what()));
  }
}

}  // namespace hyperopt

#include "executors/internal/zmq_sockets.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt::internal {
namespace {

constexpr int64_t kLargestFrame = 64 << 20;

}  // namespace

void SetCommonOptions(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::maxmsgsize, kLargestFrame);
  socket.set(zmq::sockopt::sndhwm, 1000);
  socket.set(zmq::sockopt::rcvhwm, 1000);
  socket.set(zmq::sockopt::linger, 1000);
  socket.set(zmq::sockopt::handshake_ivl, 10'000);
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, 30);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, 10);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, 3);
}

bool ReceivePart(zmq::socket_t& socket, zmq::message_t& part) {
  for (;;) {
    if (zmq_msg_recv(part.handle(), socket.handle(), ZMQ_DONTWAIT) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

bool SendBytes(zmq::socket_t& socket, std::string_view bytes, bool more) {
  const int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
  for (;;) {
    if (zmq_send(socket.handle(), bytes.data(), bytes.size(), flags) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

std::string_view View(const zmq::message_t& part) {
  return {static_cast<const char*>(part.data()), part.size()};
}

std::string IpcEndpoint(const std::filesystem::path& path) {
  constexpr size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  if (path.native().size() > kLongest) {
    throw EnvironmentError(fmt::format("{}: a socket's path may have {} bytes, this {}",
                                       path.native(),
                                       kLongest,
                                       path.native().size()));
  }
  return "ipc://" + path.native();
}

bool SomebodyListens(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.c_str(), path.native().size());
  const UniqueFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return false;
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  // EAGAIN: its backlog is full, so it lives.
  return connect(probe.get(), generic, sizeof(address)) == 0 || errno == EAGAIN;
}

void RequireCurve() {
  if (zmq_has("curve") == 0) {
    throw EnvironmentError("libzmq was built without CURVE; install Debian's libzmq5");
  }
}

}  // namespace hyperopt::internal

#include "executors/internal/keeper_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "trial/errors.h"

namespace hyperopt {
namespace {

sockaddr_un AddressOf(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof(address.sun_path)) {
    throw EnvironmentError(path.string() +
                           ": too long for a socket (107 bytes); use a shorter folder");
  }
  std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);
  return address;
}

UniqueFd NewSocket() {
  return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

bool ReadAvailable(int fd, FrameReader* reader) {
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);
    if (n > 0) {
      reader->Feed(std::string_view(buffer.data(), static_cast<size_t>(n)));
      // A short read emptied the socket; what comes after wakes the next poll.
      if (static_cast<size_t>(n) < buffer.size()) return true;
    } else if (n == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
}

bool SendAvailable(int fd, std::string* bytes) {
  size_t sent = 0;
  bool open = true;
  while (sent < bytes->size()) {
    const ssize_t n =
        send(fd, bytes->data() + sent, bytes->size() - sent, MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      open = errno == EAGAIN || errno == EWOULDBLOCK;
      break;
    }
  }
  bytes->erase(0, sent);
  return open;
}

void GrowBuffers(int fd) {
  const int size = 1 << 20;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

uid_t PeerUid(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return static_cast<uid_t>(-1);
  }
  return peer.uid;
}

UniqueFd ListenAt(const std::filesystem::path& path) {
  const sockaddr_un address = AddressOf(path);
  UniqueFd fd = NewSocket();
  if (!fd) ThrowFileError(path, "no socket can be made", errno);
  unlink(path.c_str());
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
      0) {
    ThrowFileError(path, "can not be bound", errno);
  }
  if (listen(fd.get(), 8) != 0) ThrowFileError(path, "can not be listened on", errno);
  return fd;
}

std::optional<UniqueFd> ConnectTo(const std::filesystem::path& path) {
  const sockaddr_un address = AddressOf(path);
  UniqueFd fd = NewSocket();
  if (!fd) ThrowFileError(path, "no socket can be made", errno);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (connect(fd.get(), any, sizeof(address)) != 0) return std::nullopt;
  return fd;
}

}  // namespace hyperopt

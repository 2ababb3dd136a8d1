#include "trainer/internal/rendezvous.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

struct Attempted {
  std::optional<std::string> address;
  std::string error;
};

std::string AddressOf(int fd) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  char text[NI_MAXHOST] = "";
  auto* address = reinterpret_cast<sockaddr*>(&own);
  if (::getsockname(fd, address, &size) == 0) {
    ::getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  }
  return text;
}

Attempted TryConnect(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) return {std::nullopt, ::gai_strerror(code)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found,
                                                                  ::freeaddrinfo);
  std::string error = "no address";
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    UniqueFd fd(::socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd && ::connect(fd.get(), entry->ai_addr, entry->ai_addrlen) == 0) {
      return {AddressOf(fd.get()), ""};
    }
    error = std::strerror(errno);
  }
  return {std::nullopt, error};
}

}  // namespace

std::optional<std::string> AwaitPort(const std::string& host,
                                     int port,
                                     std::chrono::steady_clock::time_point deadline,
                                     const std::atomic<bool>& stop) {
  while (!stop) {
    const Attempted attempted = TryConnect(host, port);
    if (attempted.address) return attempted.address;
    if (std::chrono::steady_clock::now() >= deadline) {
      throw EnvironmentError(fmt::format(
          "rank 0 did not answer at {}:{} in time: {}", host, port, attempted.error));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return std::nullopt;
}

}  // namespace hyperopt

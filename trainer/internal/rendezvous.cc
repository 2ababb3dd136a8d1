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

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// `host` null: all addresses of this machine.
Addresses Resolve(const char* host, int port, std::string& error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = host == nullptr ? AI_PASSIVE : 0;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host, std::to_string(port).c_str(), &hints, &found);
  error = code != 0 ? ::gai_strerror(code) : "no address";
  return {code != 0 ? nullptr : found, ::freeaddrinfo};
}

// No descriptor where it can not be, and errno says why.
UniqueFd TryListen(const addrinfo& address) {
  UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const bool listens =
      fd && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      ::bind(fd.get(), address.ai_addr, address.ai_addrlen) == 0 &&
      ::listen(fd.get(), SOMAXCONN) == 0;
  return listens ? std::move(fd) : UniqueFd();
}

Attempted TryConnect(const std::string& host, int port) {
  std::string error;
  const Addresses list = Resolve(host.c_str(), port, error);
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    UniqueFd fd(::socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd && ::connect(fd.get(), entry->ai_addr, entry->ai_addrlen) == 0) {
      return {AddressOf(fd.get()), ""};
    }
    error = std::strerror(errno);
  }
  return {std::nullopt, error};
}

}  // namespace

UniqueFd ListenAt(const std::string& host, int port) {
  std::string error;
  for (const char* name : {host.c_str(), static_cast<const char*>(nullptr)}) {
    bool not_ours = false;
    const Addresses list = Resolve(name, port, error);
    for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
      UniqueFd fd = TryListen(*entry);
      if (fd) return fd;
      not_ours = errno == EADDRNOTAVAIL;
      error = std::strerror(errno);
    }
    if (!not_ours) break;
  }
  throw EnvironmentError(
      fmt::format("rank 0 can not listen at {}:{}: {}", host, port, error));
}

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

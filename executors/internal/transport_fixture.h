// What the transport's tests share: a short folder for sockets, waits on conditions.
#pragma once

#include <doctest/doctest.h>
#include <poll.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "executors/transport.h"

namespace hyperopt {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Short, for sockets, and with a space in it.
class TempFolder {
 public:
  TempFolder() {
    std::string name = "/tmp/ho t.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Waits until `done`, looking again whenever its descriptor wakes, and each second: a
// descriptor that does not wake makes the tests crawl (see "wakes"). False after half a
// minute.
template <typename Transport>
bool WaitFor(Transport& transport, const std::function<bool()>& done) {
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (Clock::now() > deadline) return false;
    pollfd polled{transport.fd(), POLLIN, 0};
    poll(&polled, 1, 1000);
  }
  return true;
}

inline Frame NextFrame(ServerTransport& server) {
  std::optional<Frame> frame;
  REQUIRE(WaitFor(server,
                  [&] { return (frame = server.ReceiveFromExecutor()).has_value(); }));
  return *frame;
}
inline std::string NextFrame(ClientTransport& client) {
  std::optional<std::string> frame;
  REQUIRE(WaitFor(client, [&] { return (frame = client.Receive()).has_value(); }));
  return *frame;
}

inline std::string ExecutorsEndpoint(const fs::path& folder) {
  return "ipc://" + (folder / "executors.sock").string();
}
inline KeyFile NewKeys(const fs::path& path) {
  WriteNewKeyFile(path);
  return ReadKeyFile(path);
}

// A frame there and one back.
inline void CheckTalks(ServerTransport& server, ClientTransport& client) {
  client.Send("ping");
  const Frame frame = NextFrame(server);
  CHECK(frame.bytes == "ping");
  CHECK(server.SendToExecutor(frame.peer, "pong"));
  CHECK(NextFrame(client) == "pong");
}

}  // namespace hyperopt

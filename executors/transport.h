// Frames between controller and executors over ZeroMQ. Nothing else in the project
// knows it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hyperopt {

// CURVE keys, as ZeroMQ's Z85 text. The file (mode 0600) is made by `hyperopt keygen`
// and holds all three pairs' parts that an executor and a controller need.
struct KeyFile {
  std::string server_public, server_secret;
  std::string client_public, client_secret;
};
// Writes a new key file, 0600, never over an existing one. Throws EnvironmentError.
void WriteNewKeyFile(const std::filesystem::path& path);
// Throws ConfigError where the file is no key file or others can read it.
KeyFile ReadKeyFile(const std::filesystem::path& path);

// A connection, as the server names it. Never used as an identity: executors get ids.
using Peer = std::string;

struct Frame {
  Peer peer;
  std::string bytes;
};

// The controller's sockets: a ROUTER for executors on ipc (always) and on tcp (where
// asked), a ROUTER for requests of the command line on ipc. Used from one thread.
class ServerTransport {
 public:
  virtual ~ServerTransport() = default;
  // Descriptor to poll for reading; edge-triggered (ZeroMQ's): after it wakes, receive
  // until nothing comes, and receive before polling again.
  virtual std::vector<int> fds() const = 0;
  virtual std::optional<Frame> ReceiveFromExecutor() = 0;
  // False where it was dropped: peer gone or past its high-water mark. Never blocks.
  virtual bool SendToExecutor(const Peer& peer, std::string_view bytes) = 0;
  virtual std::optional<Frame> ReceiveRequest() = 0;
  virtual bool SendReply(const Peer& peer, std::string_view bytes) = 0;
  // Where it listens on tcp, "tcp://127.0.0.1:41234"; "" where it does not.
  virtual std::string tcp_endpoint() const = 0;
};

struct ServerOptions {
  std::filesystem::path folder;       // socket folder: executors.sock, requests.sock
  std::optional<std::string> listen;  // "tcp://HOST:PORT", port 0 or * = any
  std::optional<KeyFile> keys;        // without: tcp only on loopback, and CURVE off
};
// Throws EnvironmentError (address taken, path too long), ConfigError where `listen`
// leaves this machine and there are no keys.
std::unique_ptr<ServerTransport> OpenServer(const ServerOptions& options);

// The executor's end. A thread of its own owns the DEALER socket and exchanges whole
// frames with the loop over an inproc PAIR; where the loop hands over no heartbeat
// within `heartbeat_s`, the thread sends the last one again.
class ClientTransport {
 public:
  virtual ~ClientTransport() = default;
  virtual int fd() const = 0;  // as ServerTransport::fds
  virtual std::optional<std::string> Receive() = 0;
  virtual void Send(std::string_view bytes) = 0;
  // As Send, and kept to be repeated.
  virtual void SendHeartbeat(std::string_view bytes) = 0;
  virtual void SetHeartbeatInterval(double seconds) = 0;
  // A new connection (a controller that came back has another socket under the same
  // path).
  virtual void Reconnect(const std::string& endpoint) = 0;
};
// `endpoint`: "ipc:///path" or "tcp://host:port".
std::unique_ptr<ClientTransport> OpenClient(const std::string& endpoint,
                                            const std::optional<KeyFile>& keys);

// One question of the command line to a living controller: sends `request`, waits for
// the answer. nullopt where none came in time.
std::optional<std::string> Ask(const std::filesystem::path& folder,
                               std::string_view request,
                               double timeout_s);

}  // namespace hyperopt

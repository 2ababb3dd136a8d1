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
  // To poll for reading; ask for it before each poll, since the call also notes what a
  // send has pulled in meanwhile. The number stays the same. Receive until nothing
  // comes, or it stays readable.
  virtual int fd() = 0;
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

// The executor's end. Used from one thread, the loop's. A second thread watches the
// loop: where it hands over no heartbeat within the interval, the last one is sent
// again. Both use the one DEALER socket, one at a time, and neither ever blocks in it.
//
// What is sent while there is no connection waits for it (up to 64 MiB, of heartbeats
// only the newest); what was on its way when a connection broke is lost.
class ClientTransport {
 public:
  virtual ~ClientTransport() = default;
  virtual int fd() = 0;  // as ServerTransport::fd; the same after Reconnect
  virtual std::optional<std::string> Receive() = 0;
  virtual void Send(std::string_view bytes) = 0;
  // As Send, and kept to be repeated.
  virtual void SendHeartbeat(std::string_view bytes) = 0;
  // 2 seconds until set.
  virtual void SetHeartbeatInterval(double seconds) = 0;
  // Another connection, and what waited for the old one is dropped. (A server that
  // comes back under the same endpoint is found without it.) Throws ConfigError on what
  // is no endpoint.
  virtual void Reconnect(const std::string& endpoint) = 0;
};
// `endpoint`: "ipc:///path" or "tcp://host:port"; keys are used on tcp alone. Returns
// at once, whether or not a server is there. Throws ConfigError, EnvironmentError.
std::unique_ptr<ClientTransport> OpenClient(const std::string& endpoint,
                                            const std::optional<KeyFile>& keys);

// One question of the command line to a living controller: sends `request`, waits for
// the answer. nullopt where none came in time; at once where nobody listens.
std::optional<std::string> Ask(const std::filesystem::path& folder,
                               std::string_view request,
                               double timeout_s);

}  // namespace hyperopt

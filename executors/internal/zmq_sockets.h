// What server and client share of ZeroMQ: options, sends and receives without
// exceptions, paths.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <zmq.hpp>

#include "executors/transport.h"

namespace hyperopt::internal {

inline constexpr char kExecutorsSocket[] = "executors.sock";
inline constexpr char kRequestsSocket[] = "requests.sock";

// Limits and liveness that every socket has: frames up to 64 MiB, a bounded queue a
// peer, last words that linger for a second, dead TCP peers noticed.
void SetCommonOptions(zmq::socket_t& socket);

// Never blocks. False where nothing is there (or the context ends).
bool ReceivePart(zmq::socket_t& socket, zmq::message_t& part);
// Never blocks. False where it could not be queued.
bool SendBytes(zmq::socket_t& socket, std::string_view bytes, bool more);

std::string_view View(const zmq::message_t& part);

// "ipc:///path". Throws EnvironmentError where the path is too long for a socket.
std::string IpcEndpoint(const std::filesystem::path& path);

// Whether a process accepts connections at the path at this moment.
bool SomebodyListens(const std::filesystem::path& path);

// Throws EnvironmentError where this libzmq was built without CURVE.
void RequireCurve();

}  // namespace hyperopt::internal

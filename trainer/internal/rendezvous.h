// Finding rank 0.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "trial/fs.h"

namespace hyperopt {

// Listens at host:port and at no other address of this machine, so that ranks on
// loopback are not to be reached from elsewhere. Where `host` is no address of this
// machine (a name that is translated on the way), at all. Throws EnvironmentError.
UniqueFd ListenAt(const std::string& host, int port);

// Connects to host:port until it answers, and returns the own numeric address of that
// connection, which is the one that the other ranks can reach this process at. nullopt
// where `stop` is set first. Throws EnvironmentError at `deadline`.
std::optional<std::string> AwaitPort(const std::string& host,
                                     int port,
                                     std::chrono::steady_clock::time_point deadline,
                                     const std::atomic<bool>& stop);

}  // namespace hyperopt

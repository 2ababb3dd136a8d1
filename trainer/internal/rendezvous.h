// Finding rank 0.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

namespace hyperopt {

// Connects to host:port until it answers, and returns the own numeric address of that
// connection, which is the one that the other ranks can reach this process at. nullopt
// where `stop` is set first. Throws EnvironmentError at `deadline`.
std::optional<std::string> AwaitPort(const std::string& host,
                                     int port,
                                     std::chrono::steady_clock::time_point deadline,
                                     const std::atomic<bool>& stop);

}  // namespace hyperopt

// Time is a parameter: no state machine reads a clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace hyperopt {

// Steady time since an arbitrary start (CLOCK_BOOTTIME is not used: a suspended machine
// does not age leases). Compare and subtract only.
using Duration = std::chrono::nanoseconds;
using Time = std::chrono::time_point<std::chrono::steady_clock, Duration>;

constexpr Duration Seconds(double s) { return Duration(static_cast<int64_t>(s * 1e9)); }
constexpr double ToSeconds(Duration d) { return static_cast<double>(d.count()) * 1e-9; }

// Wall time, seconds since the epoch. Stamped into records, never compared.
using WallTime = double;

// Both at once, as a loop takes them once a turn.
struct Now {
  Time steady;
  WallTime wall = 0;
};

Now ReadClocks();

}  // namespace hyperopt

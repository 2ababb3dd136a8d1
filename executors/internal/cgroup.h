// What the control groups of this process allow it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hyperopt::internal {

struct CgroupLimits {
  std::optional<double> cpus;     // quota / period, the tightest on the way up
  std::optional<int64_t> memory;  // bytes, the tightest on the way up
};

// Version 2 and version 1, also mixed. `root` is "/", or a test's folder that holds
// proc/self/cgroup and sys/fs/cgroup. Files that are absent or strange limit nothing.
CgroupLimits ReadCgroupLimits(const std::filesystem::path& root);

}  // namespace hyperopt::internal

#include "executors/internal/cgroup.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "trial/fs.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

namespace fs = std::filesystem;

// Above it version 1 means "no limit" (it writes the largest multiple of a page).
constexpr int64_t kNoLimit = int64_t{1} << 60;

std::optional<std::string> Text(const fs::path& file) {
  try {
    return ReadFile(file);
  } catch (const std::exception&) {
    return std::nullopt;  // not ours to read
  }
}

std::optional<int64_t> Number(std::string_view text) {
  text = Trim(text);
  int64_t value = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename T>
void Tighten(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

void AddQuota(std::optional<int64_t> quota,
              std::optional<int64_t> period,
              CgroupLimits& limits) {
  if (quota && period && *quota > 0 && *period > 0) {
    Tighten(limits.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
  }
}

void AddMemory(const fs::path& file, CgroupLimits& limits) {
  const auto text = Text(file);
  const auto bytes = text ? Number(*text) : std::nullopt;
  if (bytes && *bytes > 0 && *bytes < kNoLimit) Tighten(limits.memory, *bytes);
}

// cpu.max: "150000 100000" or "max 100000".
void AddCpuMax(const fs::path& file, CgroupLimits& limits) {
  const auto text = Text(file);
  const size_t blank = text ? text->find(' ') : std::string::npos;
  if (blank == std::string::npos) return;
  AddQuota(Number(text->substr(0, blank)), Number(text->substr(blank)), limits);
}

void AddFolder(const fs::path& folder, CgroupLimits& limits) {
  AddCpuMax(folder / "cpu.max", limits);
  AddMemory(folder / "memory.max", limits);
  AddMemory(folder / "memory.limit_in_bytes", limits);
  const auto quota = Text(folder / "cpu.cfs_quota_us");
  const auto period = Text(folder / "cpu.cfs_period_us");
  if (quota && period) AddQuota(Number(*quota), Number(*period), limits);
}

// A group and all above it. Inside a container the path that /proc tells may be the
// host's, and the container's own group is the mount itself: that is looked at too.
void AddGroup(const fs::path& mount, std::string_view group, CgroupLimits& limits) {
  fs::path at(group);
  while (at.has_relative_path()) {
    AddFolder(mount / at.relative_path(), limits);
    at = at.parent_path();
  }
  AddFolder(mount, limits);
}

bool HasController(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    list.remove_prefix(comma == list.npos ? list.size() : comma + 1);
  }
  return false;
}

}  // namespace

CgroupLimits ReadCgroupLimits(const fs::path& root) {
  CgroupLimits limits;
  const fs::path mounts = root / "sys/fs/cgroup";
  const std::string lines = Text(root / "proc/self/cgroup").value_or("");
  std::string_view rest = lines;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (controllers.empty()) {
      AddGroup(mounts, group, limits);
      AddGroup(mounts / "unified", group, limits);
    }
    if (HasController(controllers, "cpu")) {
      AddGroup(mounts / "cpu", group, limits);
      AddGroup(mounts / "cpu,cpuacct", group, limits);
    }
    if (HasController(controllers, "memory"))
      AddGroup(mounts / "memory", group, limits);
  }
  return limits;
}

}  // namespace hyperopt::internal

#include "executors/device_watch.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/resources.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

constexpr size_t kNamed = 3;  // holders that are named, the largest first

std::string UserOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return "";
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  const bool known =
      getpwuid_r(info.st_uid, &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr;
  return known ? std::string(entry.pw_name) : fmt::format("uid {}", info.st_uid);
}

std::string MemoryWords(int64_t bytes) {
  return bytes < 0 ? "an unknown amount" : SizeToText(bytes);
}

}  // namespace

std::string ProcessWords(int64_t pid) {
  const std::string path = fmt::format("/proc/{}", pid);
  std::string name;
  try {
    name = ReadFile(path + "/comm").value_or("");
  } catch (const EnvironmentError&) {  // it ended meanwhile
  }
  const std::string user = UserOf(path);
  name = std::string(Trim(name));
  if (name.empty() || user.empty()) return fmt::format("pid {}", pid);
  return fmt::format("{} (pid {}, {})", name, pid, user);
}

DeviceWatch::DeviceWatch(const Nvml& nvml,
                         std::map<std::string, std::string> uuids,
                         TokenOf token_of)
    : nvml_(nvml), uuids_(std::move(uuids)), token_of_(std::move(token_of)) {}

void DeviceWatch::Begin(const RunKey& key,
                        const std::string& token,
                        std::set<std::string> devices,
                        int64_t memory) {
  std::erase_if(devices, [&](const std::string& id) { return !uuids_.contains(id); });
  if (devices.empty()) return;
  Run& run = runs_[key];
  run.token = token;
  run.devices = std::move(devices);
  run.memory = memory;
}

void DeviceWatch::NoteLeaders(const RunKey& key, const std::vector<int32_t>& pids) {
  const auto run = runs_.find(key);
  if (run != runs_.end()) run->second.pids.insert(pids.begin(), pids.end());
}

void DeviceWatch::Look() {
  std::set<int64_t> strangers;
  std::swap(strangers, strangers_);
  loads_.clear();
  for (const auto& [id, uuid] : uuids_) {
    std::optional<DeviceLoad> load = nvml_.Load(uuid);
    if (!load) continue;
    for (const DeviceProcess& process : load->processes) {
      // A process does not change hands: who was no one of ours is asked once.
      if (strangers.contains(process.pid)) {
        strangers_.insert(process.pid);
      } else {
        Attribute(process);
      }
    }
    loads_[id] = *std::move(load);
  }
}

void DeviceWatch::Attribute(const DeviceProcess& process) {
  if (OwnerOf(process.pid)) return;
  const std::optional<std::string> token = token_of_(process.pid);
  for (auto& [key, run] : runs_) {
    if (!token || token->substr(0, token->rfind('-')) != run.token) continue;
    run.pids.insert(process.pid);
    return;
  }
  strangers_.insert(process.pid);
}

std::optional<RunKey> DeviceWatch::OwnerOf(int64_t pid) const {
  for (const auto& [key, run] : runs_) {
    if (run.pids.contains(pid)) return key;
  }
  return std::nullopt;
}

bool DeviceWatch::Holds(const RunKey& key) const {
  const auto at = runs_.find(key);
  if (at == runs_.end()) return false;
  const Run& run = at->second;
  return std::any_of(run.devices.begin(), run.devices.end(), [&](const auto& id) {
    const auto load = loads_.find(id);
    return load != loads_.end() && std::any_of(load->second.processes.begin(),
                                               load->second.processes.end(),
                                               [&](const DeviceProcess& p) {
                                                 return run.pids.contains(p.pid);
                                               });
  });
}

int64_t DeviceWatch::Pending(const RunKey& key,
                             const Run& run,
                             const DeviceLoad& load) const {
  int64_t held = 0;
  for (const DeviceProcess& process : load.processes) {
    if (OwnerOf(process.pid) != key) continue;
    if (process.memory < 0) return 0;  // it is there; how much is in `free`
    held += process.memory;
  }
  return std::max<int64_t>(run.memory - held, 0);
}

int64_t DeviceWatch::FreeOf(const std::string& device) const {
  const auto load = loads_.find(device);
  if (load == loads_.end()) return -1;
  int64_t free = load->second.free;
  for (const auto& [key, run] : runs_) {
    if (run.devices.contains(device)) free -= Pending(key, run, load->second);
  }
  return std::max<int64_t>(free, 0);
}

std::string DeviceWatch::Words(const std::string& device) const {
  const auto at = loads_.find(device);
  if (at == loads_.end()) return "";
  const DeviceLoad& load = at->second;
  std::vector<DeviceProcess> others;
  for (const DeviceProcess& process : load.processes) {
    if (!OwnerOf(process.pid)) others.push_back(process);
  }
  std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) {
    return a.memory > b.memory;
  });
  std::string text =
      fmt::format("{} of {} free", SizeToText(FreeOf(device)), SizeToText(load.total));
  std::vector<std::string> holders;
  for (size_t i = 0; i < std::min(kNamed, others.size()); ++i) {
    holders.push_back(fmt::format(
        "{}: {}", ProcessWords(others[i].pid), MemoryWords(others[i].memory)));
  }
  if (others.size() > kNamed) {
    holders.push_back(fmt::format("{} more", others.size() - kNamed));
  }
  const auto own = std::count_if(runs_.begin(), runs_.end(), [&](const auto& entry) {
    return entry.second.devices.contains(device);
  });
  if (own > 0) {
    holders.push_back(
        fmt::format("{} trial{} of this sweep", own, own == 1 ? "" : "s"));
  }
  if (holders.empty()) return text;
  return fmt::format("{}; held by {}", text, fmt::join(holders, ", "));
}

std::vector<DeviceNews> DeviceWatch::News(const std::vector<Device>& devices) const {
  std::vector<DeviceNews> news;
  for (const Device& device : devices) {
    news.push_back({FreeOf(device.id), Words(device.id)});
  }
  return news;
}

}  // namespace hyperopt

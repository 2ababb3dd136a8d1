#include "executors/internal/machine_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "executors/internal/gpus.h"
#include "executors/internal/process_tree.h"
#include "executors/keeper.h"
#include "executors/local_resources.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

constexpr Duration kPatience = Seconds(10);

std::set<std::string> DevicesOf(const Launch& launch) {
  std::set<std::string> devices;
  for (const auto& rank : launch.devices) devices.insert(rank.begin(), rank.end());
  return devices;
}

// A variable of a process's environment as it was started with.
std::string VariableOf(int32_t pid, const std::string& name) {
  std::string text;
  try {
    text = ReadFile(fmt::format("/proc/{}/environ", pid)).value_or("");
  } catch (const EnvironmentError&) {
    return "";
  }
  const std::string begin = name + "=";
  for (size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    if (text.compare(at, begin.size(), begin) == 0) {
      return std::string(text.c_str() + at + begin.size());
    }
    if (text.find('\0', at) == text.npos) break;
  }
  return "";
}

}  // namespace

void MachineShare::Use(const std::vector<Device>& offered, const SweepSpec& sweep) {
  offered_ = offered;
  sweep_ = &sweep;
  for (const Device& device : offered) {
    if (const auto uuid = DeviceUuid(device.id)) uuids_[device.id] = *uuid;
  }
  if (sweep.around.pin_cpus) pins_.emplace(CpusToPin(), LeaseRoot(), sweep.sweep_dir);
  if (uuids_.empty()) return;
  std::string why;
  nvml_ = Nvml::Open(kNvmlLibrary, &why);
  if (nvml_) {
    watch_.emplace(*nvml_, uuids_, [](int64_t pid) {
      return ReadProcessToken(static_cast<pid_t>(pid));
    });
  } else if (sweep.around.gpu_memory > 0) {
    std::fprintf(stderr,
                 "hyperopt executor: gpu_memory_per_trial: the driver's library is not "
                 "here, so free memory is not looked at: %s\n",
                 why.c_str());
  }
}

std::optional<MachineShare::Refusal> MachineShare::LeaseDevices(
    const Launch& launch, Granted* granted) const {
  for (const std::vector<std::string>& rank : launch.devices) {
    for (const std::string& device : rank) {
      const auto uuid = uuids_.find(device);
      if (uuid == uuids_.end()) continue;  // a pretend device is nobody else's
      std::optional<DeviceLease> lease =
          TryLease(LeaseRoot(), uuid->second, launch.device_share, sweep_->sweep_dir);
      if (!lease) {
        return Refusal{
            fmt::format(
                "device {} is taken: {}", device, Holders(LeaseRoot(), uuid->second)),
            false};
      }
      granted->leases.push_back(std::move(*lease));
    }
  }
  return std::nullopt;
}

std::optional<MachineShare::Refusal> MachineShare::CheckMemory(const Launch& launch) {
  const int64_t need = sweep_->around.gpu_memory;
  if (!watch_ || need == 0) return std::nullopt;
  watch_->Look();
  for (const std::string& device : DevicesOf(launch)) {
    const int64_t free = watch_->FreeOf(device);
    if (free < 0 || free >= need) continue;
    return Refusal{fmt::format("device {}: needs {} of its memory, {}",
                               device,
                               SizeToText(need),
                               watch_->Words(device)),
                   true};
  }
  return std::nullopt;
}

std::optional<MachineShare::Refusal> MachineShare::Take(const Launch& launch,
                                                        Granted* granted) {
  if (auto refusal = CheckMemory(launch)) return refusal;
  if (auto refusal = LeaseDevices(launch, granted)) {
    granted->leases.clear();
    return refusal;
  }
  if (watch_) {
    watch_->Begin(launch.key,
                  TokenFor(sweep_->sweep_id, launch.key),
                  DevicesOf(launch),
                  sweep_->around.gpu_memory);
  }
  if (pins_) {
    pins_->GiveBack(launch.key);  // of a start that was not carried out
    granted->cpus = launch.after
                        ? pins_->TakeOver(launch.key, *launch.after, launch.ranks)
                        : pins_->Take(launch.key, launch.ranks, launch.cpus_per_rank);
    granted->paths = pins_->LeasesOf(launch.key);
  }
  for (const DeviceLease& lease : granted->leases) {
    granted->paths.push_back(lease.path().native());
  }
  return std::nullopt;
}

void MachineShare::Started(const RunKey& key, const std::vector<int32_t>& pids) {
  if (sweep_ == nullptr) return;
  if (watch_ && !watch_->watches(key)) {
    std::set<std::string> devices;
    for (const int32_t pid : pids) {
      for (const Device& device :
           internal::DevicesOfMask(VariableOf(pid, "CUDA_VISIBLE_DEVICES"))) {
        devices.insert(device.id);
      }
    }
    watch_->Begin(key,
                  TokenFor(sweep_->sweep_id, key),
                  std::move(devices),
                  sweep_->around.gpu_memory);
  }
  if (watch_) watch_->NoteLeaders(key, pids);
  if (pins_ && !pins_->Holds(key)) {
    for (const int32_t pid : pids) pins_->Adopt(key, AffinityOf(pid));
  }
}

bool MachineShare::SeenFree(const RunKey& key, Time now) {
  if (!watch_ || !watch_->watches(key)) return true;
  watch_->Look();
  if (!watch_->Holds(key)) return true;
  const auto [since, first] = held_since_.try_emplace(key, now);
  return !first && now - since->second >= kPatience;
}

void MachineShare::GiveBack(const RunKey& key) {
  held_since_.erase(key);
  if (watch_) watch_->End(key);
  if (pins_) pins_->GiveBack(key);
}

std::vector<DeviceNews> MachineShare::Look() {
  if (watch_) watch_->Look();
  if (sweep_ == nullptr || sweep_->around.gpu_memory == 0) return {};
  // Without a driver nothing is known of any of them, and they are given away blindly.
  return watch_ ? watch_->News(offered_) : std::vector<DeviceNews>(offered_.size());
}

}  // namespace hyperopt

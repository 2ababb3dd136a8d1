// What this machine has, and what of it this process may give away.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executors/messages.h"

namespace hyperopt {

struct ResourceFlags {
  std::optional<double> cpus;  // --cpus
  std::optional<std::string>
      gpus;  // --gpus: "4" (so many pretend or real) or "0,2,GPU-x"
  std::optional<int64_t> memory;    // --memory
  std::vector<std::string> labels;  // --label k=v
};

// CPUs by affinity and cgroup limit, memory by physical size and cgroup limit; GPUs
// from CUDA_VISIBLE_DEVICES where it is set (indices, UUIDs or MIG names, as they are;
// empty or NoDevFiles: none), else those of /proc/driver/nvidia/gpus (by index), or
// where that is empty those that NVML knows.
// `--gpus 4` gives devices 0..3 of the mask, or, where the machine has none, pretend
// devices "0".."3" for placement without hardware; `--gpus 0,2` picks by index into the
// mask or by name. Throws ConfigError on a flag that can not be.
Resources LocalResources(const ResourceFlags& flags);

// The name by which all sweeps of this machine know a real device, for leases: the UUID
// of a device named by index or UUID, a MIG name as it is. nullopt for a pretend
// device.
std::optional<std::string> DeviceUuid(const std::string& id);

std::string HostName();
std::string BootId();  // /proc/sys/kernel/random/boot_id, "" where there is none

}  // namespace hyperopt

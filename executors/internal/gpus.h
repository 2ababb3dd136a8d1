// The GPUs that this process may use.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "executors/messages.h"

namespace hyperopt::internal {

struct Gpu {
  std::string uuid;  // "GPU-...", or "" where the driver does not say
};

// Those of /proc/driver/nvidia/gpus whose device file is there, in the order of their
// PCI addresses, which is CUDA's with CUDA_DEVICE_ORDER=PCI_BUS_ID. `root` is "/", or a
// test's folder.
std::vector<Gpu> InstalledGpus(const std::filesystem::path& root);

// The entries of CUDA_VISIBLE_DEVICES, as they are; like CUDA, none from the first one
// on that is -1.
std::vector<Device> DevicesOfMask(const std::string& mask);

// What `--gpus` chooses of `visible`: "2" the first two, "0,GPU-x" by index or name.
// Where nothing is visible, so many pretend devices, or those named. Throws
// ConfigError.
std::vector<Device> ChooseDevices(const std::string& flag,
                                  const std::vector<Device>& visible);

}  // namespace hyperopt::internal

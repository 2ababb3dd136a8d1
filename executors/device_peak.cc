#include "executors/device_peak.h"

#include <algorithm>
#include <optional>

#include "executors/internal/process_tree.h"

namespace hyperopt {

DevicePeak::DevicePeak(std::string sweep_id) : sweep_id_(std::move(sweep_id)) {
  std::string why;
  nvml_ = Nvml::Open(kNvmlLibrary, &why);
  if (nvml_) uuids_ = nvml_->Uuids();
}

void DevicePeak::Look() {
  int64_t held = 0;
  for (const std::string& uuid : uuids_) {
    const std::optional<DeviceLoad> load = nvml_->Load(uuid);
    if (!load) continue;
    for (const DeviceProcess& process : load->processes) {
      if (process.memory <= 0) continue;
      const auto token = ReadProcessToken(static_cast<pid_t>(process.pid));
      if (token && token->starts_with(sweep_id_ + "-")) held += process.memory;
    }
  }
  peak_ = std::max(peak_, held);
}

}  // namespace hyperopt

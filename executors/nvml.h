// What NVIDIA's driver says of this machine's devices, by its management library
// (NVML). The library is loaded at run time: a machine without one is normal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hyperopt {

// A process that holds memory of a device.
struct DeviceProcess {
  int64_t pid = 0;     // as the driver counts them; perhaps not in this pid namespace
  int64_t memory = 0;  // bytes; -1 where the driver does not say
  bool operator==(const DeviceProcess&) const = default;
};

// A device at one moment. Bytes.
struct DeviceLoad {
  int64_t total = 0;
  int64_t free = 0;
  std::vector<DeviceProcess> processes;  // each pid once
};

inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

// Thread-compatible. Starting the driver's library takes up to a second where no
// process keeps the devices awake.
class Nvml {
 public:
  // nullptr where the library is absent or can not start (no driver, no device); `why`
  // says what it was.
  static std::unique_ptr<Nvml> Open(const std::string& library, std::string* why);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // UUIDs of all devices in the order of their PCI addresses.
  std::vector<std::string> Uuids() const;
  // Of a device by its UUID ("GPU-...", "MIG-..."); nullopt where the library does not
  // know it or can not answer now.
  std::optional<DeviceLoad> Load(const std::string& uuid) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace hyperopt

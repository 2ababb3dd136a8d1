#include "executors/local_resources.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "executors/internal/cgroup.h"
#include "executors/internal/gpus.h"
#include "executors/nvml.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

// CPUs that this process may run on. The set grows until the kernel's mask fits it.
int64_t CpusByAffinity() {
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(most), [](cpu_set_t* s) { CPU_FREE(s); });
    const size_t size = CPU_ALLOC_SIZE(most);
    if (set && sched_getaffinity(0, size, set.get()) == 0) {
      return CPU_COUNT_S(size, set.get());
    }
  }
  return std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN));
}

Share Cpus(const ResourceFlags& flags, const internal::CgroupLimits& limits) {
  if (flags.cpus) {
    if (!std::isfinite(*flags.cpus) || *flags.cpus <= 0 || *flags.cpus > 1e6) {
      throw ConfigError(fmt::format("--cpus {}: not a number of CPUs", *flags.cpus));
    }
    return Share::Of(*flags.cpus);
  }
  const Share affinity = Share::Whole(CpusByAffinity());
  return limits.cpus ? std::min(affinity, Share::Of(*limits.cpus)) : affinity;
}

int64_t Memory(const ResourceFlags& flags, const internal::CgroupLimits& limits) {
  if (flags.memory) {
    if (*flags.memory <= 0) throw ConfigError("--memory: not a size");
    return *flags.memory;
  }
  const int64_t physical =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return limits.memory ? std::min(physical, *limits.memory) : physical;
}

// Where the driver shows no list of its own (under WSL, in some containers), its
// library is asked.
std::vector<internal::Gpu> Gpus() {
  std::vector<internal::Gpu> gpus = internal::InstalledGpus("/");
  if (!gpus.empty()) return gpus;
  std::string why;
  const std::unique_ptr<Nvml> nvml = Nvml::Open(kNvmlLibrary, &why);
  if (!nvml) return gpus;
  for (std::string& uuid : nvml->Uuids()) gpus.push_back({std::move(uuid)});
  return gpus;
}

std::vector<Device> VisibleDevices() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody calls setenv
  if (const char* mask = std::getenv("CUDA_VISIBLE_DEVICES")) {
    return internal::DevicesOfMask(mask);
  }
  std::vector<Device> devices;
  for (size_t i = 0; i < Gpus().size(); ++i) devices.push_back({std::to_string(i)});
  return devices;
}

std::map<std::string, std::string> Labels(const std::vector<std::string>& words) {
  std::map<std::string, std::string> labels;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw ConfigError(fmt::format("--label {}: write NAME=VALUE", word));
    }
    labels[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return labels;
}

}  // namespace

Resources LocalResources(const ResourceFlags& flags) {
  const internal::CgroupLimits limits = internal::ReadCgroupLimits("/");
  Resources resources;
  resources.cpus = Cpus(flags, limits);
  resources.memory = Memory(flags, limits);
  resources.devices = VisibleDevices();
  if (flags.gpus) {
    resources.devices = internal::ChooseDevices(*flags.gpus, resources.devices);
  }
  resources.labels = Labels(flags.labels);
  return resources;
}

std::optional<std::string> DeviceUuid(const std::string& id) {
  if (id.starts_with("MIG-")) return id;
  const std::vector<internal::Gpu> gpus = Gpus();
  size_t index = 0;
  const char* end = id.data() + id.size();
  const auto [stop, error] = std::from_chars(id.data(), end, index);
  if (error == std::errc() && stop == end) {
    if (index >= gpus.size()) return std::nullopt;
    return gpus[index].uuid.empty() ? "GPU-" + id : gpus[index].uuid;
  }
  // CUDA takes the start of a UUID too.
  for (const internal::Gpu& gpu : gpus) {
    if (!id.empty() && gpu.uuid.starts_with(id)) return gpu.uuid;
  }
  return std::nullopt;
}

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string BootId() {
  const auto text = ReadFile("/proc/sys/kernel/random/boot_id");
  return text ? std::string(Trim(*text)) : "";
}

}  // namespace hyperopt

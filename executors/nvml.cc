#include "executors/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace hyperopt {
namespace {

// As nvml.h of the driver defines them; this layout is part of its binary interface.
using Status = int;
constexpr Status kSuccess = 0;
constexpr Status kInsufficientSize = 7;
constexpr uint64_t kNotAvailable = std::numeric_limits<uint64_t>::max();
using Handle = void*;

struct Memory {
  unsigned long long total = 0, free = 0, used = 0;
};

// Of the _v2 and _v3 functions.
struct ProcessInfo {
  unsigned int pid = 0;
  unsigned long long used = 0;
  unsigned int gpu_instance = 0, compute_instance = 0;
};

using ListProcesses = Status (*)(Handle, unsigned int*, ProcessInfo*);

int64_t Bytes(unsigned long long value) {
  constexpr auto kMost = std::numeric_limits<int64_t>::max();
  return value > static_cast<unsigned long long>(kMost) ? kMost
                                                        : static_cast<int64_t>(value);
}

}  // namespace

struct Nvml::Library {
  void* loaded = nullptr;
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  const char* (*error_string)(Status) = nullptr;
  Status (*count)(unsigned int*) = nullptr;
  Status (*by_index)(unsigned int, Handle*) = nullptr;
  Status (*by_uuid)(const char*, Handle*) = nullptr;
  Status (*uuid)(Handle, char*, unsigned int) = nullptr;
  Status (*memory)(Handle, Memory*) = nullptr;
  // Of programs that compute, and of those that draw.
  std::vector<ListProcesses> lists;

  ~Library() {
    if (loaded != nullptr) dlclose(loaded);
  }

  template <typename Function>
  bool Find(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(dlsym(loaded, name));
    return *function != nullptr;
  }

  bool FindAll() {
    for (const char* kind : {"Compute", "Graphics"}) {
      ListProcesses list = nullptr;
      for (const char* version : {"_v3", "_v2"}) {
        const std::string name =
            fmt::format("nvmlDeviceGet{}RunningProcesses{}", kind, version);
        if (list == nullptr) Find(name.c_str(), &list);
      }
      if (list != nullptr) lists.push_back(list);
    }
    return Find("nvmlInit_v2", &init) && Find("nvmlShutdown", &shutdown) &&
           Find("nvmlErrorString", &error_string) &&
           Find("nvmlDeviceGetCount_v2", &count) &&
           Find("nvmlDeviceGetHandleByIndex_v2", &by_index) &&
           Find("nvmlDeviceGetHandleByUUID", &by_uuid) &&
           Find("nvmlDeviceGetUUID", &uuid) &&
           Find("nvmlDeviceGetMemoryInfo", &memory) && !lists.empty();
  }
};

namespace {

// The list may grow while it is asked for.
std::vector<ProcessInfo> ProcessesOf(ListProcesses list, Handle device) {
  std::vector<ProcessInfo> infos(64);
  for (int tries = 0; tries < 8; ++tries) {
    auto count = static_cast<unsigned int>(infos.size());
    const Status status = list(device, &count, infos.data());
    if (status == kSuccess) {
      infos.resize(std::min<size_t>(count, infos.size()));
      return infos;
    }
    if (status != kInsufficientSize) break;
    infos.resize(std::max<size_t>(count, infos.size()) * 2);
  }
  return {};
}

}  // namespace

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Nvml::~Nvml() { library_->shutdown(); }

std::unique_ptr<Nvml> Nvml::Open(const std::string& name, std::string* why) {
  auto library = std::make_unique<Library>();
  library->loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->loaded == nullptr) {
    const char* error = dlerror();
    *why = error == nullptr ? name + " can not be loaded" : error;
    return nullptr;
  }
  if (!library->FindAll()) {
    *why = name + ": lacks a function; the driver is too old";
    return nullptr;
  }
  if (const Status status = library->init(); status != kSuccess) {
    const char* text = library->error_string(status);
    *why = fmt::format("{}: {}", name, text == nullptr ? "can not start" : text);
    return nullptr;
  }
  return std::unique_ptr<Nvml>(new Nvml(std::move(library)));
}

std::vector<std::string> Nvml::Uuids() const {
  std::vector<std::string> uuids;
  unsigned int count = 0;
  if (library_->count(&count) != kSuccess) return uuids;
  for (unsigned int i = 0; i < count; ++i) {
    Handle device = nullptr;
    std::array<char, 128> uuid{};
    const bool known = library_->by_index(i, &device) == kSuccess &&
                       library_->uuid(device, uuid.data(), uuid.size()) == kSuccess;
    // One that fell off the bus keeps its place in the order.
    uuids.emplace_back(known ? uuid.data() : "");
  }
  return uuids;
}

std::optional<DeviceLoad> Nvml::Load(const std::string& uuid) const {
  Handle device = nullptr;
  Memory memory;
  if (library_->by_uuid(uuid.c_str(), &device) != kSuccess ||
      library_->memory(device, &memory) != kSuccess) {
    return std::nullopt;
  }
  DeviceLoad load;
  load.total = Bytes(memory.total);
  load.free = Bytes(memory.free);
  for (const ListProcesses list : library_->lists) {
    for (const ProcessInfo& info : ProcessesOf(list, device)) {
      const bool seen = std::any_of(
          load.processes.begin(), load.processes.end(), [&](const DeviceProcess& p) {
            return p.pid == info.pid;
          });
      if (seen) continue;
      load.processes.push_back(
          {info.pid, info.used == kNotAvailable ? -1 : Bytes(info.used)});
    }
  }
  return load;
}

}  // namespace hyperopt

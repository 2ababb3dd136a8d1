#include "executors/internal/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t comma = text.find(',');
    parts.emplace_back(Trim(text.substr(0, comma)));
    if (comma == text.npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// The value of "Name: \t value" in the driver's text.
std::string FieldOf(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == text.npos) return "";
  const std::string_view rest = text.substr(at + name.size());
  return std::string(Trim(rest.substr(0, rest.find('\n'))));
}

std::optional<size_t> Index(std::string_view text) {
  size_t value = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

Device PickOne(const std::string& wanted, const std::vector<Device>& visible) {
  const auto named = std::find(visible.begin(), visible.end(), Device{wanted});
  const auto index = Index(wanted);
  if (visible.empty()) {
    if (index) return {wanted};
    throw ConfigError(fmt::format(
        "--gpus {}: this machine has no GPU; pretend ones have numbers", wanted));
  }
  // An index counts within the mask, so that --gpus 0 is the first one that we may use.
  if (index && *index < visible.size()) return visible[*index];
  if (!index && named != visible.end()) return *named;
  std::vector<std::string> names;
  for (const Device& device : visible) names.push_back(device.id);
  throw ConfigError(fmt::format(
      "--gpus {}: there {} {}: {}",
      wanted,
      visible.size() == 1 ? "is 1 GPU" : "are",
      visible.size() == 1 ? "here" : fmt::format("{} GPUs here", visible.size()),
      fmt::join(names, ", ")));
}

}  // namespace

std::vector<Gpu> InstalledGpus(const fs::path& root) {
  std::vector<fs::path> folders;
  std::error_code none;
  for (const auto& entry :
       fs::directory_iterator(root / "proc/driver/nvidia/gpus", none)) {
    folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<Gpu> gpus;
  for (const fs::path& folder : folders) {
    std::string text;
    try {
      text = ReadFile(folder / "information").value_or("");
    } catch (const EnvironmentError&) {
    }
    // In a container the list may be the host's, the device files are not.
    const std::string minor = FieldOf(text, "Device Minor:");
    if (!minor.empty() && !fs::exists(root / ("dev/nvidia" + minor), none)) continue;
    const std::string uuid = FieldOf(text, "GPU UUID:");
    gpus.push_back({uuid.find('?') == uuid.npos ? uuid : ""});
  }
  return gpus;
}

std::vector<Device> DevicesOfMask(const std::string& mask) {
  std::vector<Device> devices;
  if (Trim(mask).empty() || Trim(mask) == "NoDevFiles") return devices;
  for (const std::string& id : SplitAtCommas(mask)) {
    if (id.empty() || id.starts_with('-')) break;
    if (std::find(devices.begin(), devices.end(), Device{id}) == devices.end()) {
      devices.push_back({id});
    }
  }
  return devices;
}

std::vector<Device> ChooseDevices(const std::string& flag,
                                  const std::vector<Device>& visible) {
  const std::vector<std::string> parts = SplitAtCommas(flag);
  std::vector<Device> chosen;
  if (parts.size() == 1 && Index(parts[0])) {
    constexpr size_t kMostPretend = 1024;
    const size_t count = *Index(parts[0]);
    if (visible.empty() ? count > kMostPretend : count > visible.size()) {
      throw ConfigError(fmt::format("--gpus {}: there are {} here",
                                    count,
                                    visible.empty() ? kMostPretend : visible.size()));
    }
    for (size_t i = 0; i < count; ++i) {
      chosen.push_back(visible.empty() ? Device{std::to_string(i)} : visible[i]);
    }
    return chosen;
  }
  for (const std::string& part : parts) {
    const Device device = part.empty()
                              ? throw ConfigError(fmt::format(
                                    "--gpus {}: an empty name in the list", flag))
                              : PickOne(part, visible);
    if (std::find(chosen.begin(), chosen.end(), device) != chosen.end()) {
      throw ConfigError(fmt::format("--gpus {}: {} is named twice", flag, part));
    }
    chosen.push_back(device);
  }
  return chosen;
}

}  // namespace hyperopt::internal

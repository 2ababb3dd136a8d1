#include "search/commands/check_machine.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <memory>

#include "executors/device_watch.h"
#include "executors/local_resources.h"
#include "executors/nvml.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownVariables = 8;

class PassingFolder {
 public:
  PassingFolder() {
    std::string name = fs::temp_directory_path() / "hyperopt-check.XXXXXX";
    if (mkdtemp(name.data()) == nullptr) ThrowFileError(name, "can not be made", errno);
    path_ = name;
  }
  ~PassingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// As MakeSweepSpec has it: the folder that hyperopt is started in, else workdir; with
// `trial` the search file's.
fs::path FolderOfSetup(const SearchConfig& config) {
  if (config.workdir != "trial") return fs::current_path() / config.workdir;
  return fs::absolute(config.file).parent_path();
}

}  // namespace

SetupResult SetupHere(const SearchConfig& config) {
  if (config.around.setup.empty()) return {OwnEnvironment(), ""};
  const PassingFolder folder;
  return RunSetup(
      config.around.setup, FolderOfSetup(config), folder.path(), OwnEnvironment());
}

std::string SetupText(const SetupResult& setup) {
  std::vector<std::string> names =
      ChangedVariables(OwnEnvironment(), setup.environment);
  if (names.empty()) return "ok; it changes no variable";
  const size_t more = names.size() - std::min(names.size(), kShownVariables);
  names.resize(names.size() - more);
  return fmt::format("ok; it changes {}{}",
                     fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

std::vector<std::string> MemoryOfDevices(const SearchConfig& config,
                                         const Resources& local) {
  if (config.executor.resources.gpu_memory == 0) return {};
  std::map<std::string, std::string> uuids;
  for (const Device& device : local.devices) {
    if (const auto uuid = DeviceUuid(device.id)) uuids[device.id] = *uuid;
  }
  std::string why = "there is no real GPU here";
  std::unique_ptr<Nvml> nvml;
  if (!uuids.empty()) nvml = Nvml::Open(kNvmlLibrary, &why);
  if (!nvml) return {"what is free is not looked at: " + why};
  DeviceWatch watch(*nvml, uuids, [](int64_t) { return std::nullopt; });
  watch.Look();
  std::vector<std::string> lines;
  for (const auto& [id, uuid] : uuids) {
    const std::string words = watch.Words(id);
    lines.push_back(
        fmt::format("device {}: {}", id, words.empty() ? "does not answer" : words));
  }
  return lines;
}

}  // namespace hyperopt

#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "executors/container.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

// What the trial writes is ours, not root's; a user of one's own in `options` comes
// later and wins. Rootless podman maps the container's root to us, so we stay who we
// are.
std::vector<std::string> UserWords(Engine engine) {
  if (geteuid() == 0) return {};
  if (engine == Engine::kPodman) return {"--userns=keep-id"};
  return {"--user", fmt::format("{}:{}", geteuid(), getegid())};
}

// Inside the devices count from 0, whatever they are called outside.
std::vector<std::string> DeviceWords(Engine engine,
                                     const std::vector<std::string>& devices) {
  std::vector<std::string> words;
  if (devices.empty()) return words;
  if (engine == Engine::kPodman) {
    for (const std::string& device : devices) {
      words.push_back("--device");
      words.push_back("nvidia.com/gpu=" + device);
    }
  } else {
    // A list with commas inside a list with commas wants its own quotes.
    words.push_back("--gpus");
    words.push_back(fmt::format("\"device={}\"", fmt::join(devices, ",")));
  }
  std::vector<size_t> inside;
  for (size_t i = 0; i < devices.size(); ++i) inside.push_back(i);
  words.push_back("--env");
  words.push_back(fmt::format("CUDA_VISIBLE_DEVICES={}", fmt::join(inside, ",")));
  return words;
}

}  // namespace

std::string EngineProgram(Engine engine) {
  switch (engine) {
    case Engine::kDocker:
      return "docker";
    case Engine::kPodman:
      return "podman";
    case Engine::kNone:
      break;
  }
  return "";
}

std::string ContainerName(const std::string& token) { return "hyperopt-" + token; }

std::vector<std::string> ContainerWords(const Container& container,
                                        const ContainerRank& rank) {
  std::vector<std::string> words = {EngineProgram(container.engine),
                                    "run",
                                    "--rm",
                                    "--init",
                                    "--name",
                                    ContainerName(rank.token),
                                    "--workdir",
                                    rank.cwd};
  const std::set<std::string> folders(rank.folders.begin(), rank.folders.end());
  for (const std::string& folder : folders) {
    if (folder.find(':') != folder.npos) {
      throw ConfigError(fmt::format(
          "container: the folder {} can not be handed to {}: its path has a colon",
          folder,
          words[0]));
    }
    words.push_back("-v");
    words.push_back(folder + ":" + folder);
  }
  for (const std::string& name : rank.variables) {
    words.push_back("--env");
    words.push_back(name);
  }
  for (std::string& word : DeviceWords(container.engine, rank.devices)) {
    words.push_back(std::move(word));
  }
  for (std::string& word : UserWords(container.engine)) {
    words.push_back(std::move(word));
  }
  if (!rank.cpus.empty()) {
    words.push_back(fmt::format("--cpuset-cpus={}", fmt::join(rank.cpus, ",")));
  }
  if (rank.host_network) {
    words.push_back("--network");
    words.push_back("host");
  }
  words.insert(words.end(), container.options.begin(), container.options.end());
  words.push_back(container.image);
  return words;
}

std::vector<std::string> RemoveContainerWords(Engine engine, const std::string& token) {
  return {EngineProgram(engine), "rm", "--force", ContainerName(token)};
}

}  // namespace hyperopt

// A trial inside a container: the words of `docker run` and `podman run`, and the end
// of containers whose client is gone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "executors/messages.h"

namespace hyperopt {

// One rank that is to run in a container.
struct ContainerRank {
  std::string token;  // HYPEROPT_TOKEN with the rank: names the container
  std::string cwd;
  std::vector<std::string> folders;    // seen inside under the same paths
  std::vector<std::string> variables;  // names; their values stay off the command line
  std::vector<std::string> devices;    // as CUDA_VISIBLE_DEVICES names them
  std::vector<int32_t> cpus;           // it may run on these only; empty: on any
  bool host_network = false;           // ranks meet at a port of the host
};

// "docker" or "podman"; "" for none.
std::string EngineProgram(Engine engine);

// hyperopt-<token>
std::string ContainerName(const std::string& token);

// The words that stand before the command's: engine, its options, the image. What the
// trial writes belongs to this process's user. Throws ConfigError for a folder that
// can not be handed on (a colon in its path).
std::vector<std::string> ContainerWords(const Container& container,
                                        const ContainerRank& rank);

// Ends the container, whatever state it is in, and forgets it. Succeeds where there is
// none.
std::vector<std::string> RemoveContainerWords(Engine engine, const std::string& token);

// Removes the containers of a sweep whose client's process is gone: those of a dead
// keeper, which the engine keeps running. Waits for it, at most half a minute a call of
// the engine; an engine that can not be asked is complained about on stderr.
// `environment` is what the engine's client is given.
void RemoveLeftoverContainers(Engine engine,
                              const std::string& sweep_id,
                              const std::vector<std::string>& environment);

}  // namespace hyperopt

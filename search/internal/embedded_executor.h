// The executor that a controller starts on its own machine: a child in a session of its
// own, so that neither Ctrl-C nor a closed terminal reaches it, its words in
// executor.log.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "executors/local_resources.h"

namespace hyperopt {

struct EmbeddedOptions {
  std::filesystem::path sweep_dir;
  std::filesystem::path state_dir;
  std::string sweep_id;
  std::string endpoint;
  bool fresh = false;
  ResourceFlags resources;
};

// Starts it; throws EnvironmentError.
pid_t StartEmbeddedExecutor(const EmbeddedOptions& options);

// The last lines of executor.log, for an error message.
std::string LastWordsOfExecutor(const std::filesystem::path& sweep_dir);

}  // namespace hyperopt

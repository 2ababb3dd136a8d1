// The executor's loop: joins the state machine (executor.h) to the controller's socket,
// the keeper and the files of its trials.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "executors/local_resources.h"
#include "executors/messages.h"
#include "executors/transport.h"

namespace hyperopt {

struct AgentOptions {
  std::string endpoint;  // "ipc:///path" or "tcp://host:port"
  std::optional<KeyFile> keys;
  std::filesystem::path state_dir;  // keeper.sock, keeper.lock, id: 0700, short
  std::string name;                 // unique on its host
  LostPolicy lost_policy = LostPolicy::kStop;
  ResourceFlags resources;
  // Set where a controller started it as its child: the sweep's folder and id.
  std::optional<std::filesystem::path> embedded_in;
  std::string sweep_id;
  // The record is new: no process of an earlier life can exist, none is looked for.
  bool fresh = false;
  // The words this process was started with, for its next life after its keeper died.
  std::vector<std::string> own_command;
  // Where trials of a sweep whose folder is not visible here live.
  std::filesystem::path spool_dir;
};

// What an executor ends with on a machine where no trial of the sweep can start
// (`setup:` failed): another one would end in the same way.
inline constexpr int kUnfitExit = 4;

// Runs until the sweep is over, the lease is lost (embedded), or SIGTERM; 0 for an
// ordinary end. Throws EnvironmentError, ConfigError. REQUIRES: no thread was started
// in this process.
int RunAgent(const AgentOptions& options);

}  // namespace hyperopt

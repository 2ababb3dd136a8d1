// `hyperopt dashboard`: sweeps in a browser while they run; and the same beside a sweep
// that is started with --dashboard.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "trial/fs.h"

namespace hyperopt {

struct DashboardCommandOptions {
  std::vector<std::filesystem::path> dirs;  // none: the newest under results/
  std::string host = "127.0.0.1";
  int port = 8080;
  std::string token;
  bool allow_changes = false;  // with a token made for it where none is given
  bool beside = false;         // started by StartDashboard
};

// Serves until SIGINT or SIGTERM, or, where `beside`, until its stdin ends; prints
// where.
int DashboardCommand(const DashboardCommandOptions& options);

// A dashboard in a process of its own, which ends with this one: what it does, and what
// befalls it, is no matter of the sweep.
class DashboardBeside {
 public:
  // Says on stderr where it is. Throws EnvironmentError where it can not be started, as
  // when the port is taken.
  DashboardBeside(const std::filesystem::path& dir, int port);
  ~DashboardBeside();
  DashboardBeside(const DashboardBeside&) = delete;
  DashboardBeside& operator=(const DashboardBeside&) = delete;

 private:
  pid_t pid_ = 0;
  UniqueFd life_;  // its stdin: closed when this process is gone, however it ends
};

}  // namespace hyperopt

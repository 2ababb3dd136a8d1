// The controller's loop: joins the state machine (controller.h) to the record, the
// executors' sockets, the requests of the command line, signals and the embedded
// executor.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "executors/local_resources.h"
#include "search/config.h"
#include "search/progress.h"
#include "search/record_start.h"
#include "search/snapshot.h"

namespace hyperopt {

struct RunOptions {
  SearchConfig config;
  std::filesystem::path dir;  // the sweep's folder
  OldRecord old = OldRecord::kResume;
  bool rerun_failed = false;
  int64_t more_samples = 0;  // `resume --trials +N`
  ProgressMode progress = ProgressMode::kPlain;
  ResourceFlags resources;  // of the embedded executor
  bool local_executor = true;
  std::optional<std::string> listen;  // "tcp://HOST:PORT" for executors elsewhere
  std::optional<std::filesystem::path> key_file;
  std::optional<SnapshotSource> code_of;  // `workdir: snapshot`: run that one's copy
};

// The folder of a sweep by DESIGN's rule: `output` where it is given, else
// results/<name>.
std::filesystem::path SweepDir(const SearchConfig& config,
                               const std::optional<std::filesystem::path>& output);

// Runs (or resumes) the sweep to its end; returns the exit code. Throws ConfigError,
// EnvironmentError. REQUIRES: no thread was started in this process.
int RunSweep(RunOptions options);

}  // namespace hyperopt

// `setup:` of a search file: lines that bash runs once, and the environment that they
// leave, from which every trial starts.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hyperopt {

struct SetupResult {
  // "NAME=value", what trials start from; empty where it failed.
  std::vector<std::string> environment;
  // Where it failed: the line, the command, how it ended, and the end of what it said.
  std::string error;
};

// A setup that runs beside its caller. Nothing is put into its lines; it has no
// standard input, and a line that fails ends it (set -e). `module` and `conda activate`
// work where the machine has them, though no one has logged in. REQUIRES: nobody else
// reaps the caller's children meanwhile.
class SetupRun {
 public:
  // Runs in `cwd`; keeps its files (setup.sh, setup.log, setup.env) in `folder`.
  // `environment` is what it begins with. Throws EnvironmentError where bash can not be
  // started or a file not be written.
  SetupRun(const std::string& lines,
           const std::filesystem::path& cwd,
           const std::filesystem::path& folder,
           const std::vector<std::string>& environment);
  // Kills what has not ended, and the processes that it started.
  ~SetupRun();
  SetupRun(const SetupRun&) = delete;
  SetupRun& operator=(const SetupRun&) = delete;

  // nullopt while it runs; waits up to `seconds` for its end.
  std::optional<SetupResult> Wait(double seconds);

 private:
  SetupResult Result(int status) const;

  std::filesystem::path folder_;
  std::vector<std::string> before_;
  pid_t pid_ = -1;
};

// The same at once, for commands that only look: waits as long as it takes.
SetupResult RunSetup(const std::string& lines,
                     const std::filesystem::path& cwd,
                     const std::filesystem::path& folder,
                     const std::vector<std::string>& environment);

// This process's environment, "NAME=value".
std::vector<std::string> OwnEnvironment();

// Names of variables that the two differ in, ascending.
std::vector<std::string> ChangedVariables(const std::vector<std::string>& before,
                                          const std::vector<std::string>& after);

}  // namespace hyperopt

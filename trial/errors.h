// The error rule of the project. A broken invariant is an assertion. Unusable input or
// environment is one of these exceptions, caught in main. An outcome that is normal (a
// peer sends rubbish, a grid is exhausted) is a return value.
#pragma once

#include <stdexcept>
#include <string>

namespace hyperopt {

// Exit codes of the programs (DESIGN, "Command line").
enum class ExitCode : int {
  kDone = 0,
  kNoTrialCompleted = 1,
  kUsage = 2,
  kEnvironment = 3,
  kInterrupted = 130,
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& what)
      : std::runtime_error(what), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// The user's file, flag or request can not be used: exit code 2. The text names the
// place and the way out.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& what) : Error(ExitCode::kUsage, what) {}
};

// Disk, database, socket, missing program: exit code 3; the sweep stays resumable.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& what)
      : Error(ExitCode::kEnvironment, what) {}
};

}  // namespace hyperopt

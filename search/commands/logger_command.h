// The process of one entry of `loggers` beside a sweep that runs (search/loggers.h).
//
// It reads the record about once a second, for as short a time as that takes, and
// brings what is new to where the entry leads (commands/trial_log.h). What is there
// says how far it came, so it may be killed at any moment and begun again. A trouble is
// told once, and tried again after growing pauses.
#pragma once

#include <cstddef>
#include <filesystem>

namespace hyperopt {

struct LoggerCommandOptions {
  std::filesystem::path dir;
  size_t number = 0;  // of the entry in the search file
};

// stdin says "end SECONDS" once the sweep is over, and closes when the controller is
// gone; then it ends at once. stdout gets a line for a person each, after `!` for
// trouble and a blank for what is well. The exit code: 1 where something is missing.
// Ends the process.
[[noreturn]] int LoggerCommand(const LoggerCommandOptions& options);

}  // namespace hyperopt

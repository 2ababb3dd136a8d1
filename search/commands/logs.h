// What a trial printed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hyperopt {

struct LogsOptions {
  std::optional<std::filesystem::path> dir;
  int64_t trial = 0;
  bool follow = false;
  bool only_stdout = false;
  bool only_stderr = false;
  int rank = 0;
  std::optional<int32_t> attempt;  // the newest where it is absent
  std::optional<int64_t> tail;     // so many last lines of each
};
// The trial's stdout to stdout and its stderr to stderr; one of them alone to stdout.
// With `follow` on to the end of the trial, through its later attempts unless one was
// named, and no further where no controller runs. A reader that goes away is an
// ordinary end. ConfigError where there are no such trial, attempt or logs.
int LogsCommand(const LogsOptions& options);

}  // namespace hyperopt

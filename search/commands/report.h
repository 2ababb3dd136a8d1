// `hyperopt report`: a sweep as one HTML file that opens anywhere, without a network.
#pragma once

#include <filesystem>
#include <optional>

namespace hyperopt {

struct ReportOptions {
  std::optional<std::filesystem::path> dir;
  std::optional<std::filesystem::path> output;  // absent: <dir>/report.html
  bool open = false;                            // in the desktop's browser
};
// Writes the file, whole or not at all, and prints its path. Beside a living controller
// it shows the sweep as it is recorded now.
int ReportCommand(const ReportOptions& options);

}  // namespace hyperopt

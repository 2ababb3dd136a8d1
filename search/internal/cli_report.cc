#include <memory>

#include "search/commands/report.h"
#include "search/internal/cli_command.h"
#include "search/internal/cli_options.h"

namespace hyperopt::internal {

void AddReport(const CommandLine& line) {
  auto report = std::make_shared<ReportOptions>();
  CLI::App* command = line.app->add_subcommand(
      "report",
      "A sweep as one HTML file: parallel coordinates, curves, what mattered");
  AddDir(command, &report->dir);
  Add(command,
      "-o,--output",
      &report->output,
      "The file to write; absent: report.html in the sweep's folder",
      "FILE");
  command->add_flag("--open", report->open, "Open it in the browser");
  command->callback(
      [=, run = line.run] { *run = [=] { return ReportCommand(*report); }; });
}

}  // namespace hyperopt::internal

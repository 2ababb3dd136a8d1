#include <memory>

#include "search/commands/dashboard.h"
#include "search/commands/import.h"
#include "search/commands/logger_command.h"
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
      "The file to write; absent: report.html in the sweep's folder. Of several "
      "pictures: the folder",
      "FILE");
  AddParsed<ReportFormat>(command,
                          "--format",
                          "html, or pictures for a paper: svg, png; absent: html",
                          "FORMAT",
                          &report->format,
                          ReportFormatFromString,
                          "html, svg or png");
  AddParsed<Picture>(
      command,
      "--view",
      "Only this picture: parallel, history, curves, importance or pareto",
      "VIEW",
      &report->view,
      [](const std::string& text) { return PictureFromString(text); },
      "parallel, history, curves, importance or pareto");
  command->add_flag("--open", report->open, "Open it in the browser");
  command->callback(
      [=, run = line.run] { *run = [=] { return ReportCommand(*report); }; });
}

void AddImport(const CommandLine& line) {
  auto imported = std::make_shared<ImportOptions>();
  CLI::App* command = line.app->add_subcommand(
      "import", "Trials of Optuna or Ludwig as a sweep to look at");
  Add(command,
      "FILE",
      &imported->file,
      "An Optuna SQLite storage, or Ludwig's hyperopt_statistics.json")
      ->required();
  Add(command,
      "-o,--output",
      &imported->output,
      "The sweep's folder; absent: results/<name>",
      "DIR");
  Add(command,
      "--study",
      &imported->study,
      "Which study, where the storage holds several",
      "NAME");
  command->callback(
      [=, run = line.run] { *run = [=] { return ImportCommand(*imported); }; });
}

void AddDashboard(const CommandLine& line) {
  auto dashboard = std::make_shared<DashboardCommandOptions>();
  CLI::App* command = line.app->add_subcommand(
      "dashboard", "Sweeps in a browser while they run: the report, kept up to date");
  Add(command,
      "DIR",
      &dashboard->dirs,
      "Sweeps' folders; absent: the newest under results/");
  Add(command, "--port", &dashboard->port, "Port to listen on; 0: a free one", "PORT")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  Add(command,
      "--host",
      &dashboard->host,
      "Address to listen on; one that others reach wants a token",
      "ADDRESS")
      ->capture_default_str();
  command->add_flag("--allow-changes",
                    dashboard->allow_changes,
                    "Let the page stop and add trials, with a token that is printed");
  Add(command, "--token", &dashboard->token, "That token, of your own", "TOKEN");
  command->add_flag("--beside", dashboard->beside)->group("");
  command->callback(
      [=, run = line.run] { *run = [=] { return DashboardCommand(*dashboard); }; });
}

// What a controller starts for each of its `loggers`.
void AddLogger(const CommandLine& line) {
  auto options = std::make_shared<LoggerCommandOptions>();
  CLI::App* command = line.app->add_subcommand("logger", "")->group("");
  Add(command, "DIR", &options->dir, "")->required();
  Add(command, "--number", &options->number, "")->required();
  command->callback(
      [=, run = line.run] { *run = [=] { return LoggerCommand(*options); }; });
}

}  // namespace hyperopt::internal

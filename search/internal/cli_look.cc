#include <memory>

#include "search/commands/best.h"
#include "search/commands/export.h"
#include "search/commands/look.h"
#include "search/commands/verify.h"
#include "search/internal/cli_command.h"
#include "search/internal/cli_options.h"

namespace hyperopt::internal {

void AddStatus(const CommandLine& line) {
  auto status = std::make_shared<StatusOptions>();
  CLI::App* command = line.app->add_subcommand("status", "How a sweep is doing");
  AddDir(command, &status->dir);
  command->add_flag("--json", status->json, "As JSON");
  command->callback(
      [=, run = line.run] { *run = [=] { return StatusCommand(*status); }; });
}

void AddTrials(const CommandLine& line) {
  auto trials = std::make_shared<TrialsOptions>();
  CLI::App* command =
      line.app->add_subcommand("trials", "The trials of a sweep, best first");
  AddDir(command, &trials->dir);
  Add(command,
      "--sort",
      &trials->sort,
      "A column (best, last, id, state, started, ended, step, a metric, and with "
      "repeats mean, error, n, of) or a parameter; -NAME turns it round",
      "NAME");
  AddParsed<TrialState>(
      command,
      "--state",
      "Only those in this state",
      "STATE",
      &trials->state,
      [](const std::string& text) { return TrialStateFromString(text); },
      "a state: pending, running, paused, completed, stopped, failed");
  Add(command, "--limit", &trials->limit, "So many lines; 0 is all", "N")
      ->check(AtLeast(0))
      ->capture_default_str();
  command->add_flag("--json", trials->json, "As JSON; all of them unless --limit");
  command->add_flag("--plot", trials->plot, "The best so far as a curve, above them");
  command->callback([=, run = line.run] {
    if (trials->json && command->count("--limit") == 0) trials->limit = 0;
    *run = [=] { return TrialsCommand(*trials); };
  });
}

void AddExplain(const CommandLine& line) {
  auto explain = std::make_shared<ExplainOptions>();
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      line.app->add_subcommand("explain", "Why a trial waits, or what it is doing");
  Add(command, "WORDS", words.get(), "The sweep's folder (may be absent), the number")
      ->option_text("[DIR] TRIAL")
      ->required()
      ->expected(1, 2);
  command->add_flag("--json", explain->json, "As JSON");
  command->callback([=, run = line.run] {
    if (words->size() == 2) explain->dir = words->front();
    if (!CLI::detail::lexical_cast(words->back(), explain->trial)) {
      throw CLI::ValidationError("TRIAL: " + words->back() +
                                 " is no number of a trial");
    }
    *run = [=] { return ExplainCommand(*explain); };
  });
}

void AddBest(const CommandLine& line) {
  auto best = std::make_shared<BestOptions>();
  CLI::App* command = line.app->add_subcommand(
      "best", "The best trial; writes best.json into the folder");
  AddDir(command, &best->dir);
  command->add_flag("--json", best->json, "All about it, as JSON");
  AddParsed<BestFormat>(command,
                        "--format",
                        "Its parameters alone, for a program: args, yaml, json, env; "
                        "or its value",
                        "FORMAT",
                        &best->format,
                        BestFormatFromString,
                        "args, yaml, json, env or value");
  command->add_flag_callback(
      "--metric-only",
      [best] { best->format = BestFormat::kValue; },
      "Its value alone: --format value");
  Add(command, "--top", &best->top, "A table of so many of the best", "N")
      ->check(AtLeast(1));
  command->callback([=, run = line.run] { *run = [=] { return BestCommand(*best); }; });
}

void AddExport(const CommandLine& line) {
  auto exported = std::make_shared<ExportOptions>();
  CLI::App* command = line.app->add_subcommand("export", "A sweep for other programs");
  AddDir(command, &exported->dir);
  AddParsed<ExportFormat>(
      command,
      "--format",
      "csv, json, ludwig (hyperopt_statistics.json), tensorboard (event "
      "files), mlflow (a server) or optuna (study.db); absent: csv",
      "FORMAT",
      &exported->format,
      ExportFormatFromString,
      "csv, json, ludwig, tensorboard, mlflow or optuna");
  Add(command,
      "--output",
      &exported->output,
      "Into a file (tensorboard: a folder); absent: stdout",
      "FILE");
  Add(command,
      "--uri",
      &exported->uri,
      "The MLflow server; absent: $MLFLOW_TRACKING_URI",
      "URI");
  command->callback(
      [=, run = line.run] { *run = [=] { return ExportCommand(*exported); }; });
}

void AddVerify(const CommandLine& line) {
  auto verify = std::make_shared<VerifyOptions>();
  CLI::App* command = line.app->add_subcommand(
      "verify", "Recompute every proposal and verdict from the record and compare");
  AddDir(command, &verify->dir);
  command->callback(
      [=, run = line.run] { *run = [=] { return VerifyCommand(*verify); }; });
}

}  // namespace hyperopt::internal

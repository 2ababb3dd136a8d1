#include <cstdint>
#include <memory>

#include "search/commands/check.h"
#include "search/commands/final.h"
#include "search/commands/start.h"
#include "search/commands/try.h"
#include "search/internal/cli_command.h"
#include "search/internal/cli_options.h"
#include "trial/resources.h"

namespace hyperopt::internal {
namespace {

void AddResources(CLI::App* app, ResourceFlags* flags) {
  Add(app, "--cpus", &flags->cpus, "CPUs to give away; absent: all", "N");
  Add(app,
      "--gpus",
      &flags->gpus,
      "GPUs to give away: so many (4) or these (0,2,GPU-uuid)",
      "GPUS");
  AddParsed<int64_t>(
      app,
      "--memory",
      "Memory to give away, as 8GiB",
      "SIZE",
      &flags->memory,
      [](const std::string& text) { return ParseSize(text); },
      "a size as 8GiB or 512MB");
  Add(app,
      "--label",
      &flags->labels,
      "Recorded with the executor, for you; may be repeated",
      "K=V")
      ->allow_extra_args(false);
}

void AddConfig(CLI::App* app, ConfigOptions* config) {
  Add(app, "-c,--config", &config->file, "The search file", "FILE");
  Add(app, "--config_str,--config-str", &config->text, "The search itself", "YAML");
  Add(app,
      "--dataset",
      &config->dataset,
      "The table that the built-in trainer reads; before the file's `dataset:`",
      "FILE");
  Add(app,
      "--set",
      &config->set,
      "Change the file: a dotted name and a YAML value; may be repeated",
      "KEY=VALUE")
      ->allow_extra_args(false);
  Add(app,
      "--random_seed,--random-seed",
      &config->random_seed,
      "Seed of the search, before the file's search_alg.random_state",
      "N");
}

void AddStart(CLI::App* app, StartOptions* start) {
  app->add_flag("--json", start->json, "One JSON object an event on stdout");
  app->add_flag("-q,--quiet", start->quiet, "Say only how it ended");
  AddResources(app, &start->resources);
  Add(app,
      "--listen",
      &start->listen,
      "Let executors elsewhere join; beyond this machine it wants --key",
      "tcp://HOST:PORT");
  Add(app, "--key", &start->key_file, "Keys made by hyperopt keygen", "FILE");
  app->add_flag_callback(
      "--no-local-executor",
      [start] { start->local_executor = false; },
      "Run no trial on this machine");
  Add(app,
      "--dashboard",
      &start->dashboard,
      "Show it in a browser on this machine, while it runs",
      "PORT")
      ->check(CLI::Range(0, 65535));
}

void AddRunFlags(CLI::App* app, RunCommandOptions* options) {
  AddConfig(app, &options->config);
  Add(app,
      "-o,--output",
      &options->output,
      "The sweep's folder; absent: results/<name>",
      "DIR");
  Add(app,
      "--output_directory,--output-directory",
      &options->output_directory,
      "Ludwig's: the folder above the sweep's",
      "DIR");
  Add(app,
      "--experiment_name,--experiment-name",
      &options->experiment_name,
      "Ludwig's: the name of the sweep's folder",
      "NAME");
  app->add_flag("--amend",
                options->amend,
                "Go on under an edited file: other ranges and parameters for what is "
                "proposed from now on");
  app->add_flag("--fresh", options->fresh, "Start over; the old folder is renamed");
  app->add_flag("--dry-run",
                options->dry_run,
                "Check, show the first ten configurations, run nothing");
  AddStart(app, &options->start);
}

}  // namespace

Run AddBareRun(CLI::App* app) {
  auto options = std::make_shared<RunCommandOptions>();
  AddRunFlags(app, options.get());
  return [=] { return RunCommand(*options); };
}

void AddRun(const CommandLine& line) {
  auto options = std::make_shared<RunCommandOptions>();
  CLI::App* command = line.app->add_subcommand("run", "Run a search, or go on with it");
  Add(command, "FILE", &options->config.file, "The search file");
  AddRunFlags(command, options.get());
  command->callback(
      [=, run = line.run] { *run = [=] { return RunCommand(*options); }; });
}

void AddCheck(const CommandLine& line) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      line.app->add_subcommand("check", "Say what a search file would do; run nothing");
  Add(command, "FILE", &options->config.file, "The search file");
  AddConfig(command, &options->config);
  command->add_flag("--dry-run", options->dry_run, "The first ten configurations too");
  AddResources(command, &options->resources);
  command->callback(
      [=, run = line.run] { *run = [=] { return CheckCommand(*options); }; });
}

void AddTry(const CommandLine& line) {
  auto options = std::make_shared<TryOptions>();
  CLI::App* command = line.app->add_subcommand(
      "try",
      "One trial in the foreground, as a sweep would run it; nothing is recorded");
  Add(command, "FILE", &options->config.file, "The search file");
  AddConfig(command, &options->config);
  Add(command,
      "--params",
      &options->params,
      "Its parameters; what is left out is as first proposed",
      "JSON");
  AddParsed<double>(command,
                    "--stop-after",
                    "Stop it then as a sweep would, and say how it ends",
                    "TIME",
                    &options->stop_after_s,
                    SecondsFromText,
                    "a time as 5s, 500ms or 2m");
  command->add_flag("--keep", options->keep, "Keep the temporary folder");
  AddResources(command, &options->resources);
  command->callback(
      [=, run = line.run] { *run = [=] { return TryCommand(*options); }; });
}

void AddFinal(const CommandLine& line) {
  auto options = std::make_shared<FinalOptions>();
  CLI::App* command = line.app->add_subcommand(
      "final", "The best settings once more, with several seeds, to the end");
  AddDir(command, &options->dir);
  Add(command, "--top", &options->top, "So many of the best", "N")
      ->capture_default_str();
  Add(command,
      "--seeds",
      &options->seeds,
      "Runs of each, with other HYPEROPT_SEEDs",
      "N")
      ->capture_default_str();
  Add(command,
      "--set",
      &options->set,
      "Change the search file for these runs, as trainer.epochs=100; may be repeated",
      "KEY=VALUE")
      ->allow_extra_args(false);
  AddStart(command, &options->start);
  command->callback(
      [=, run = line.run] { *run = [=] { return FinalCommand(*options); }; });
}

void AddResume(const CommandLine& line) {
  auto options = std::make_shared<ResumeOptions>();
  CLI::App* command =
      line.app->add_subcommand("resume", "Go on with a sweep, from its record alone");
  AddDir(command, &options->dir);
  command
      ->add_option_function<std::string>(
          "--trials",
          [=](const std::string& text) {
            const bool plus = text.starts_with('+');
            if (!CLI::detail::lexical_cast(text.substr(plus), options->more_samples) ||
                options->more_samples < 0) {
              throw CLI::ValidationError("--trials: write +50 for 50 more");
            }
          },
          "So many samples more; +50 and 50 are the same")
      ->type_name("+N");
  command->add_flag(
      "--rerun-failed", options->rerun_failed, "Run failed trials once more");
  AddStart(command, &options->start);
  command->callback(
      [=, run = line.run] { *run = [=] { return ResumeCommand(*options); }; });
}

void AddExecutor(const CommandLine& line) {
  auto options = std::make_shared<ExecutorCommandOptions>();
  options->own_command = line.words;
  CLI::App* command =
      line.app->add_subcommand("executor", "Run trials for a controller elsewhere");
  Add(command,
      "--connect,--endpoint",
      &options->endpoint,
      "The controller's --listen address",
      "tcp://HOST:PORT")
      ->required();
  Add(command, "--key", &options->key_file, "Keys made by hyperopt keygen", "FILE");
  Add(command, "--name", &options->name, "Unique on its host", "NAME")
      ->capture_default_str();
  AddParsed<LostPolicy>(
      command,
      "--mode",
      "When the controller is lost: stop its trials, or finish them (finish)",
      "MODE",
      &options->mode,
      [](const std::string& text) -> std::optional<LostPolicy> {
        if (text == "stop") return LostPolicy::kStop;
        if (text == "finish") return LostPolicy::kFinish;
        return std::nullopt;
      },
      "stop or finish");
  AddResources(command, &options->resources);
  // What a controller tells the executor that it starts as its child.
  Add(command, "--embedded", &options->embedded, "")->group("");
  Add(command, "--state", &options->state_dir, "")->group("");
  Add(command, "--sweep-id", &options->sweep_id, "")->group("");
  command->add_flag("--fresh-record", options->fresh_record)->group("");
  command->callback(
      [=, run = line.run] { *run = [=] { return ExecutorCommand(*options); }; });
}

}  // namespace hyperopt::internal

#include "search/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>

#include "search/commands/best.h"
#include "search/commands/check.h"
#include "search/commands/export.h"
#include "search/commands/keys.h"
#include "search/commands/look.h"
#include "search/commands/start.h"
#include "search/commands/stop.h"
#include "search/commands/verify.h"
#include "search/internal/cli_help.h"
#include "search/internal/cli_words.h"
#include "search/internal/ludwig_flags.h"
#include "trial/errors.h"
#include "trial/resources.h"

namespace hyperopt {
namespace {

// What a parsed command line runs.
using Run = std::function<int()>;

// ---- options that several commands share ----

template <typename T>
CLI::Option* Add(CLI::App* app,
                 const std::string& names,
                 T* value,
                 const std::string& help,
                 const char* what = "") {
  CLI::Option* option = app->add_option(names, *value, help);
  if (what[0] != '\0') option->type_name(what);
  return option;
}

template <typename T>
CLI::Option* AddParsed(CLI::App* app,
                       const std::string& names,
                       const std::string& help,
                       const char* what,
                       std::optional<T>* value,
                       std::function<std::optional<T>(const std::string&)> parse,
                       const char* expected) {
  return app
      ->add_option_function<std::string>(
          names,
          [=](const std::string& text) {
            *value = parse(text);
            if (!*value) {
              throw CLI::ValidationError(
                  fmt::format("{}: {} is not {}", names, text, expected));
            }
          },
          help)
      ->type_name(what);
}

void AddDir(CLI::App* app, std::optional<std::filesystem::path>* dir) {
  Add(app, "DIR", dir, "The sweep's folder; absent: the newest under results/");
}

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
  Add(app, "--label", &flags->labels, "A label k=v; may be repeated", "K=V")
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
}

// ---- commands ----

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
  app->add_flag("--fresh", options->fresh, "Start over; the old folder is renamed");
  app->add_flag("--dry-run",
                options->dry_run,
                "Check, show the first ten configurations, run nothing");
  AddStart(app, &options->start);
}

void AddRun(CLI::App* app, Run* run) {
  auto options = std::make_shared<RunCommandOptions>();
  CLI::App* command = app->add_subcommand("run", "Run a search, or go on with it");
  Add(command, "FILE", &options->config.file, "The search file");
  AddRunFlags(command, options.get());
  command->callback([=] { *run = [=] { return RunCommand(*options); }; });
}

void AddCheck(CLI::App* app, Run* run) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      app->add_subcommand("check", "Say what a search file would do; run nothing");
  Add(command, "FILE", &options->config.file, "The search file");
  AddConfig(command, &options->config);
  command->add_flag("--dry-run", options->dry_run, "The first ten configurations too");
  AddResources(command, &options->resources);
  command->callback([=] { *run = [=] { return CheckCommand(*options); }; });
}

void AddResume(CLI::App* app, Run* run) {
  auto options = std::make_shared<ResumeOptions>();
  CLI::App* command =
      app->add_subcommand("resume", "Go on with a sweep, from its record alone");
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
  command->callback([=] { *run = [=] { return ResumeCommand(*options); }; });
}

void AddLooking(CLI::App* app, Run* run) {
  auto status = std::make_shared<StatusOptions>();
  CLI::App* command = app->add_subcommand("status", "How a sweep is doing");
  AddDir(command, &status->dir);
  command->add_flag("--json", status->json, "As JSON");
  command->callback([=] { *run = [=] { return StatusCommand(*status); }; });

  auto trials = std::make_shared<TrialsOptions>();
  command = app->add_subcommand("trials", "The trials of a sweep, best first");
  AddDir(command, &trials->dir);
  Add(command,
      "--sort",
      &trials->sort,
      "best, last, id, state, started, ended or a parameter; -NAME turns it round",
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
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json", trials->json, "As JSON; all of them unless --limit");
  command->callback([=] {
    if (trials->json && command->count("--limit") == 0) trials->limit = 0;
    *run = [=] { return TrialsCommand(*trials); };
  });

  auto explain = std::make_shared<ExplainOptions>();
  auto words = std::make_shared<std::vector<std::string>>();
  command = app->add_subcommand("explain", "Why a trial waits, or what it is doing");
  Add(command, "WORDS", words.get(), "The sweep's folder (may be absent), the number")
      ->option_text("[DIR] TRIAL")
      ->required()
      ->expected(1, 2);
  command->add_flag("--json", explain->json, "As JSON");
  command->callback([=] {
    if (words->size() == 2) explain->dir = words->front();
    if (!CLI::detail::lexical_cast(words->back(), explain->trial)) {
      throw CLI::ValidationError("TRIAL: " + words->back() +
                                 " is no number of a trial");
    }
    *run = [=] { return ExplainCommand(*explain); };
  });
}

void AddResults(CLI::App* app, Run* run) {
  auto best = std::make_shared<BestOptions>();
  CLI::App* command =
      app->add_subcommand("best", "The best trial; writes best.json into the folder");
  AddDir(command, &best->dir);
  command->add_flag("--json", best->json, "As JSON");
  command->callback([=] { *run = [=] { return BestCommand(*best); }; });

  auto exported = std::make_shared<ExportOptions>();
  command = app->add_subcommand("export", "A sweep for other programs");
  AddDir(command, &exported->dir);
  AddParsed<ExportFormat>(command,
                          "--format",
                          "csv, json or ludwig (hyperopt_statistics.json); absent: csv",
                          "FORMAT",
                          &exported->format,
                          ExportFormatFromString,
                          "csv, json or ludwig");
  Add(command, "--output", &exported->output, "Into a file; absent: stdout", "FILE");
  command->callback([=] { *run = [=] { return ExportCommand(*exported); }; });

  auto verify = std::make_shared<VerifyOptions>();
  command = app->add_subcommand(
      "verify", "Recompute every proposal and verdict from the record and compare");
  AddDir(command, &verify->dir);
  command->callback([=] { *run = [=] { return VerifyCommand(*verify); }; });
}

void AddStop(CLI::App* app, Run* run) {
  auto options = std::make_shared<StopOptions>();
  CLI::App* command = app->add_subcommand("stop", "Stop a running sweep, resumable");
  AddDir(command, &options->dir);
  command->add_flag("--drain", options->drain, "Let running trials end by themselves");
  command->callback([=] { *run = [=] { return StopCommand(*options); }; });
}

void AddExecutor(CLI::App* app, const std::vector<std::string>& words, Run* run) {
  auto options = std::make_shared<ExecutorCommandOptions>();
  options->own_command = words;
  CLI::App* command =
      app->add_subcommand("executor", "Run trials for a controller elsewhere");
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
  command->callback([=] { *run = [=] { return ExecutorCommand(*options); }; });
}

void AddKeys(CLI::App* app, Run* run) {
  auto options = std::make_shared<KeygenOptions>();
  CLI::App* command = app->add_subcommand(
      "keygen", "Write keys that controller and executors elsewhere share");
  Add(command, "FILE", &options->file, "A new file, mode 0600")->required();
  command->callback([=] { *run = [=] { return KeygenCommand(*options); }; });
  command = app->add_subcommand("version", "Which hyperopt this is");
  command->callback([=] { *run = [] { return VersionCommand(); }; });
}

const CLI::App* Innermost(const CLI::App* app) {
  const auto used = app->get_subcommands();
  return used.empty() ? app : Innermost(used.front());
}

std::vector<std::string> NamesFor(const CLI::App* app, bool flag) {
  std::vector<std::string> names;
  if (flag) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* command : app->get_subcommands(nullptr)) {
      names.push_back(command->get_name());
    }
  }
  return names;
}

int Usage(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    // The words that no command took, those after the command first.
    const std::vector<std::string> words = app.remaining(true);
    if (!words.empty()) {
      const CLI::App* command = Innermost(&app);
      const bool flag = words.front().starts_with('-');
      text = internal::UnknownWord(words.front(),
                                   command == &app ? "" : command->get_name(),
                                   NamesFor(command, flag));
    }
  }
  std::fprintf(stderr, "hyperopt: %s\n", text.c_str());
  return static_cast<int>(ExitCode::kUsage);
}

int Parse(CLI::App* app, std::vector<std::string> words) {
  try {
    // CLI11 takes words from the back.
    std::vector<std::string> reversed(words.rbegin(), words.rend() - 1);
    app->parse(std::move(reversed));
    return -1;
  } catch (const CLI::Success& success) {  // --help
    return app->exit(success);
  } catch (const CLI::ParseError& error) {
    return Usage(*app, error);
  }
}

}  // namespace

int RunCli(const std::vector<std::string>& words) {
  CLI::App app(internal::kWhatItIs, "hyperopt");
  app.footer(internal::kExitCodes);
  app.formatter(std::make_shared<internal::HelpText>());
  app.set_help_all_flag("--help-all", "Help of all commands");
  app.set_version_flag("--version", HYPEROPT_VERSION);
  app.require_subcommand(0, 1);
  Run run;
  auto options = std::make_shared<RunCommandOptions>();
  AddRunFlags(&app, options.get());
  AddRun(&app, &run);
  AddCheck(&app, &run);
  AddResume(&app, &run);
  AddLooking(&app, &run);
  AddResults(&app, &run);
  AddStop(&app, &run);
  AddExecutor(&app, words, &run);
  AddKeys(&app, &run);
  if (words.size() < 2) {
    std::fputs(app.help().c_str(), stderr);
    return static_cast<int>(ExitCode::kUsage);
  }
  const int code = Parse(&app, internal::TranslateLudwigFlags(words));
  if (code >= 0) return code;
  return run ? run() : RunCommand(*options);
}

}  // namespace hyperopt

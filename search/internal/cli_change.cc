#include <charconv>
#include <memory>

#include "search/commands/change_commands.h"
#include "search/commands/stop.h"
#include "search/internal/cli_command.h"
#include "search/internal/cli_options.h"

namespace hyperopt::internal {
namespace {

std::optional<int64_t> NumberIn(const std::string& word) {
  int64_t number = 0;
  const char* end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

void AddAdd(const CommandLine& line) {
  auto options = std::make_shared<AddOptions>();
  CLI::App* command = line.app->add_subcommand(
      "add", "Settings of your own to run, or more trials of the search");
  AddDir(command, &options->dir);
  Add(command,
      "--params",
      &options->params,
      "A trial's parameters; what is left out is drawn; may be repeated",
      "JSON")
      ->allow_extra_args(false);
  Add(command, "--csv", &options->csv, "A table: names, then a line a trial", "FILE");
  Add(command, "--trials", &options->trials, "So many samples more", "N");
  command->add_flag("--again", options->again, "Also what a trial has already");
  command->callback(
      [=, run = line.run] { *run = [=] { return AddTrialsCommand(*options); }; });
}

void AddStop(const CommandLine& line) {
  auto options = std::make_shared<StopOptions>();
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = line.app->add_subcommand(
      "stop", "Stop a running sweep, resumable; or trials of it, for good");
  Add(command, "WORDS", words.get(), "The sweep's folder (may be absent), trials")
      ->option_text("[DIR] [TRIAL...]");
  command->add_flag("--drain", options->drain, "Let running trials end by themselves");
  command->callback([=, run = line.run] {
    StopTrialsOptions trials;
    for (size_t i = 0; i < words->size(); ++i) {
      const std::string& word = (*words)[i];
      if (const std::optional<int64_t> number = NumberIn(word)) {
        trials.trials.push_back(*number);
      } else if (i == 0) {
        options->dir = trials.dir = word;
      } else {
        throw CLI::ValidationError("TRIAL: " + word + " is no number of a trial");
      }
    }
    if (trials.trials.empty()) {
      *run = [=] { return StopCommand(*options); };
    } else if (options->drain) {
      throw CLI::ValidationError("--drain is for the sweep, not for single trials");
    } else {
      *run = [=] { return StopTrialsCommand(trials); };
    }
  });
}

void AddPause(const CommandLine& line) {
  for (const bool paused : {true, false}) {
    auto options = std::make_shared<PauseOptions>();
    options->paused = paused;
    CLI::App* command =
        paused
            ? line.app->add_subcommand("pause", "Start nothing new; what runs goes on")
            : line.app->add_subcommand("unpause", "Start trials again");
    AddDir(command, &options->dir);
    command->callback(
        [=, run = line.run] { *run = [=] { return PauseCommand(*options); }; });
  }
}

void AddSet(const CommandLine& line) {
  auto options = std::make_shared<SetOptions>();
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = line.app->add_subcommand(
      "set", "Other limits for a sweep, also while it runs: max_concurrent_trials=1");
  Add(command,
      "WORDS",
      words.get(),
      "The sweep's folder (may be absent), then limits; null is no limit")
      ->option_text("[DIR] NAME=VALUE...");
  command->callback([=, run = line.run] {
    for (const std::string& word : *words) {
      const bool setting = word.find('=') != std::string::npos;
      if (!setting && &word == &words->front()) {
        options->dir = word;
      } else {
        options->settings.push_back(word);
      }
    }
    if (options->settings.empty()) {
      throw CLI::ValidationError(
          "set wants NAME=VALUE, as max_concurrent_trials=1 gpus=0");
    }
    *run = [=] { return SetCommand(*options); };
  });
}

}  // namespace hyperopt::internal

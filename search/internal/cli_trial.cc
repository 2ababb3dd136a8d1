#include <memory>

#include "search/commands/logs.h"
#include "search/commands/show.h"
#include "search/internal/cli_command.h"
#include "search/internal/cli_options.h"

namespace hyperopt::internal {
namespace {

using Words = std::shared_ptr<std::vector<std::string>>;

// The words [DIR] TRIAL; ReadWords takes them apart once they are parsed.
Words AddTrialWords(CLI::App* command) {
  auto words = std::make_shared<std::vector<std::string>>();
  Add(command, "WORDS", words.get(), "The sweep's folder (may be absent), the number")
      ->option_text("[DIR] TRIAL")
      ->required()
      ->expected(1, 2);
  return words;
}

template <typename Options>
void ReadWords(const Words& words, Options* options) {
  if (words->size() == 2) options->dir = words->front();
  if (!CLI::detail::lexical_cast(words->back(), options->trial)) {
    throw CLI::ValidationError("TRIAL: " + words->back() + " is no number of a trial");
  }
}

}  // namespace

void AddShow(const CommandLine& line) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = line.app->add_subcommand(
      "show", "One trial: its settings, curve, attempts, and how to run it by hand");
  const Words words = AddTrialWords(command);
  command->add_flag("--json", options->json, "As JSON");
  command->callback([=, run = line.run] {
    ReadWords(words, options.get());
    *run = [=] { return ShowCommand(*options); };
  });
}

void AddLogs(const CommandLine& line) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* command = line.app->add_subcommand(
      "logs", "What a trial printed: its stdout to stdout, its stderr to stderr");
  const Words words = AddTrialWords(command);
  command->add_flag(
      "-f,--follow", options->follow, "Go on until the trial ends, over its attempts");
  command->add_flag("--stdout", options->only_stdout, "Its stdout alone");
  command->add_flag("--stderr", options->only_stderr, "Its stderr alone, to stdout");
  Add(command, "--rank", &options->rank, "Of this rank", "K")->check(AtLeast(0));
  Add(command,
      "--attempt",
      &options->attempt,
      "Of this attempt; absent: the newest",
      "N")
      ->check(AtLeast(1));
  Add(command, "--tail", &options->tail, "Only so many last lines of each", "N")
      ->check(AtLeast(0));
  command->callback([=, run = line.run] {
    ReadWords(words, options.get());
    *run = [=] { return LogsCommand(*options); };
  });
}

}  // namespace hyperopt::internal

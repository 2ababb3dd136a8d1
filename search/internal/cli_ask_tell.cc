#include <memory>

#include "search/commands/ask_tell_command.h"
#include "search/internal/cli_command.h"
#include "search/internal/cli_options.h"

namespace hyperopt::internal {

void AddAskTell(const CommandLine& line) {
  auto options = std::make_shared<AskTellOptions>();
  CLI::App* command = line.app->add_subcommand(
      "ask-tell",
      "Hand out trials and take their values as JSON lines, for a program of your own");
  Add(command, "-c,--config", &options->config.file, "The search file", "FILE")
      ->required();
  Add(command,
      "-o,--output",
      &options->output,
      "Keep the record in this folder, and go on with what is in it",
      "DIR");
  Add(command,
      "--set",
      &options->config.set,
      "Change the file: a dotted name and a YAML value; may be repeated",
      "KEY=VALUE")
      ->allow_extra_args(false);
  command->callback(
      [=, run = line.run] { *run = [=] { return AskTellCommand(*options); }; });
}

}  // namespace hyperopt::internal

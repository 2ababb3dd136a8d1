#include <algorithm>
#include <memory>

#include "search/commands/init.h"
#include "search/internal/cli_command.h"
#include "search/internal/cli_options.h"

namespace hyperopt::internal {

void AddInit(const CommandLine& line) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command = line.app->add_subcommand(
      "init", "Write a search file to start from, for a program or a table");
  Add(command, "WORDS", &options->words, "The program and its options, after --")
      ->option_text("-- PROGRAM OPTIONS...");
  Add(command,
      "--dataset",
      &options->dataset,
      "A CSV table, without a program",
      "FILE");
  Add(command, "--target", &options->target, "The table's column to learn", "COLUMN");
  Add(command, "-o,--output", &options->output, "The file to write", "FILE")
      ->capture_default_str();
  command->add_flag("--force", options->force, "Write over a file that is there");
  command->callback([=, words = &line.words, run = line.run] {
    // As they were typed: the program's options are none of ours.
    const auto dashes = std::ranges::find(*words, "--");
    if (dashes != words->end()) options->words.assign(dashes + 1, words->end());
    *run = [=] { return InitCommand(*options); };
  });
}

}  // namespace hyperopt::internal

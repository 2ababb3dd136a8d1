#include <memory>

#include "search/commands/keys.h"
#include "search/internal/cli_command.h"
#include "search/internal/cli_options.h"

namespace hyperopt::internal {

void AddKeygen(const CommandLine& line) {
  auto options = std::make_shared<KeygenOptions>();
  CLI::App* command = line.app->add_subcommand(
      "keygen", "Write keys that controller and executors elsewhere share");
  Add(command, "FILE", &options->file, "A new file, mode 0600")->required();
  command->callback(
      [=, run = line.run] { *run = [=] { return KeygenCommand(*options); }; });
}

void AddVersion(const CommandLine& line) {
  CLI::App* command = line.app->add_subcommand("version", "Which hyperopt this is");
  command->callback([run = line.run] { *run = [] { return VersionCommand(); }; });
}

}  // namespace hyperopt::internal

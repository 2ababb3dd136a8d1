#include <memory>

#include "search/commands/simulate.h"
#include "search/internal/cli_command.h"
#include "search/internal/cli_options.h"

namespace hyperopt::internal {

void AddSimulate(const CommandLine& line) {
  auto simulate = std::make_shared<SimulateOptions>();
  CLI::App* command = line.app->add_subcommand(
      "simulate", "What a sweep would have cost and found under other choices");
  AddDir(command, &simulate->dir);
  Add(command,
      "--scheduler",
      &simulate->scheduler,
      "As executor.scheduler of a search file: '{type: asha, max_t: 27}'; absent: the "
      "sweep's own",
      "YAML");
  Add(command,
      "--sampler",
      &simulate->sampler,
      "As search_alg of a search file: which of the recorded trials it would have "
      "chosen first",
      "YAML");
  Add(command, "--seeds", &simulate->seeds, "Of a sampler; absent: 5", "N")
      ->check(CLI::PositiveNumber);
  Add(command,
      "--concurrency",
      &simulate->concurrency,
      "Trials at once; absent: as the sweep",
      "N")
      ->check(AtLeast(1));
  command->add_flag("--json", simulate->json, "As JSON");
  command->callback(
      [=, run = line.run] { *run = [=] { return SimulateCommand(*simulate); }; });
}

}  // namespace hyperopt::internal

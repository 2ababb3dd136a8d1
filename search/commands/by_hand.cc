#include "search/commands/by_hand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "executors/attempt_folder.h"
#include "search/model_check.h"
#include "search/record_start.h"
#include "trial/rng.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// As the controller made it.
Launch LaunchOf(const TrialFacts& facts, const RunRow& run) {
  const ResourceRequest& request = facts.config.executor.resources;
  Launch launch;
  launch.key = run.key;
  launch.params = facts.params;
  const Rng seeds(facts.config.sampler.seed, run.key.trial, "HYPEROPT_SEED");
  launch.seed = Rng(seeds).Next() & 0x7fffffff;
  launch.ranks = request.ranks;
  launch.hide_gpus = request.hide_gpus;
  launch.cpus_per_rank = Share::Micro(request.cpus.micro() / request.ranks);
  launch.resume_from = run.resume_from;
  const size_t each = run.devices.size() / static_cast<size_t>(request.ranks);
  for (int rank = 0; rank < request.ranks && each > 0; ++rank) {
    const auto first = run.devices.begin() + static_cast<std::ptrdiff_t>(rank * each);
    launch.devices.emplace_back(first, first + static_cast<std::ptrdiff_t>(each));
  }
  return launch;
}

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// "env -u RANK NAME=value ... command": what differs from the shell's own environment.
std::string CommandLine(const RankSpec& rank,
                        const std::vector<std::string>& environment,
                        const std::map<std::string, std::string>& env_from) {
  const std::set<std::string_view> here(environment.begin(), environment.end());
  std::set<std::string_view> names;
  for (const std::string& variable : rank.env) names.insert(NameOf(variable));
  std::vector<std::string> words = {"env"};
  for (const std::string& variable : environment) {
    if (names.contains(NameOf(variable)) || NameOf(variable) == "_") continue;
    words.push_back("-u " + QuoteShellWord(NameOf(variable)));
  }
  for (const auto& [name, from] : env_from) {
    if (name != from) words.push_back(fmt::format("{}=\"${}\"", name, from));
  }
  for (const std::string& variable : rank.env) {
    const bool is_from_host = env_from.contains(std::string(NameOf(variable)));
    if (!is_from_host && !here.contains(variable)) {
      words.push_back(QuoteShellWord(variable));
    }
  }
  for (const std::string& word : rank.argv) words.push_back(QuoteShellWord(word));
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

std::string ByHandLine(const TrialFacts& facts,
                       const std::vector<std::string>& environment) {
  if (facts.runs.empty()) return "";
  const RunRow& run = facts.runs.back();
  const fs::path attempt = AttemptFolder(facts.dir, run.key);
  if (!fs::exists(attempt / kParamsFile)) return "";
  const fs::path folder = attempt.parent_path() / "by-hand";
  SweepSpec spec =
      MakeSweepSpec(facts.config,
                    facts.sweep,
                    facts.dir,
                    facts.config.command.empty() ? TrainerCommand(facts.config)
                                                 : facts.config.command);
  const auto file = facts.sweep.origin.find("config_file");
  if (file != facts.sweep.origin.end()) {
    spec.config_dir = fs::path(file->second).parent_path().string();
  }
  const auto env_from = std::exchange(spec.env_from, {});
  const Launch launch = LaunchOf(facts, run);
  const int port = launch.ranks > 1 ? FreePort() : 0;
  const std::vector<RankSpec> ranks =
      MakeRanks(spec, launch, folder, environment, port);
  std::vector<std::string> commands;
  for (const RankSpec& rank : ranks) {
    commands.push_back(CommandLine(rank, environment, env_from));
  }
  const std::string run_all =
      commands.size() == 1 ? commands.front()
                           : fmt::format("( {} & wait )", fmt::join(commands, " & "));
  return fmt::format("mkdir -p {0}/{1} && cp {2} {3} {0} && cd {4} && {5}",
                     QuoteShellWord(folder.string()),
                     kCheckpointFolder,
                     QuoteShellWord((attempt / kParamsFile).string()),
                     QuoteShellWord((attempt / kConfigFile).string()),
                     QuoteShellWord(ranks.front().cwd),
                     run_all);
}

}  // namespace hyperopt

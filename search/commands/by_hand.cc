#include "search/commands/by_hand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "executors/attempt_folder.h"
#include "executors/setup_environment.h"
#include "search/model_check.h"
#include "search/record_start.h"
#include "search/snapshot.h"
#include "trial/merge.h"
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
  launch.seed = SeedOfTrial(facts.config.sampler.seed, run.key.trial);
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

SweepSpec SpecOf(const TrialFacts& facts) {
  SweepSpec spec =
      MakeSweepSpec(facts.config,
                    facts.sweep,
                    facts.dir,
                    facts.config.command.empty() ? TrainerCommand(facts.config)
                                                 : facts.config.command);
  const auto file = facts.sweep.origin.find("config_file");
  if (file != facts.sweep.origin.end()) {
    const fs::path config_dir = fs::path(file->second).parent_path();
    spec.config_dir =
        InSnapshot(facts.dir, facts.sweep.origin, config_dir).value_or(config_dir);
  }
  return spec;
}

std::vector<RankSpec> RanksIn(const fs::path& folder,
                              const TrialFacts& facts,
                              const SweepSpec& spec,
                              const std::vector<std::string>& environment) {
  Launch launch = LaunchOf(facts, facts.runs.back());
  // A checkpoint that went with its folder.
  if (!fs::exists(facts.dir / launch.resume_from)) launch.resume_from.clear();
  const int port = launch.ranks > 1 ? FreePort() : 0;
  return MakeRanks(spec, launch, folder, environment, port);
}

std::string CopyFiles(const fs::path& from, const fs::path& to) {
  return fmt::format("cp {} {} {}",
                     QuoteShellWord((from / kParamsFile).string()),
                     QuoteShellWord((from / kConfigFile).string()),
                     QuoteShellWord(to.string()));
}

// The attempt's folder is gone: what it held is known.
std::string WriteFiles(const TrialFacts& facts,
                       const std::string& model,
                       const fs::path& to) {
  const auto write = [&](const std::string& text, const char* name) {
    return fmt::format("printf '%s\\n' {} > {}",
                       QuoteShellWord(text),
                       QuoteShellWord((to / name).string()));
  };
  return write(ToJsonText(facts.params), kParamsFile) + " && " +
         write(MergeConfig(model, facts.config.space, facts.params), kConfigFile);
}

// In the shell it is pasted into, which knows `module` and `conda`; what the lines set
// is gone with the brackets.
std::string AfterSetup(const std::string& setup, const std::string& command) {
  if (setup.empty()) return command;
  const char* end = setup.ends_with('\n') ? "" : "\n";
  return fmt::format("(\nset -e\n{}{}{}\n)", setup, end, command);
}

}  // namespace

RankSpec FirstRank(const TrialFacts& facts) {
  const fs::path attempt = AttemptFolder(facts.dir, facts.runs.back().key);
  return RanksIn(attempt, facts, SpecOf(facts), OwnEnvironment()).front();
}

std::string ByHandLine(const TrialFacts& facts,
                       const std::vector<std::string>& environment) {
  if (facts.runs.empty()) return "";
  const fs::path attempt = AttemptFolder(facts.dir, facts.runs.back().key);
  const bool is_here = fs::exists(attempt / kParamsFile);
  if (!is_here && facts.files.empty()) return "";
  const fs::path folder = attempt.parent_path() / "by-hand";
  SweepSpec spec = SpecOf(facts);
  const auto env_from = std::exchange(spec.env_from, {});
  const std::vector<RankSpec> ranks = RanksIn(folder, facts, spec, environment);
  std::vector<std::string> commands;
  for (const RankSpec& rank : ranks) {
    commands.push_back(CommandLine(rank, environment, env_from));
  }
  const std::string run_all =
      commands.size() == 1 ? commands.front()
                           : fmt::format("( {} & wait )", fmt::join(commands, " & "));
  const std::string files =
      is_here ? CopyFiles(attempt, folder) : WriteFiles(facts, spec.model, folder);
  return fmt::format("mkdir -p {}/{} && {} && cd {} && {}",
                     QuoteShellWord(folder.string()),
                     kCheckpointFolder,
                     files,
                     QuoteShellWord(ranks.front().cwd),
                     AfterSetup(facts.config.around.setup, run_all));
}

}  // namespace hyperopt

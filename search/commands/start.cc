#include "search/commands/start.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "executors/agent.h"
#include "samplers/sampler.h"
#include "search/commands/check.h"
#include "search/commands/dashboard.h"
#include "search/commands/recorded_sweep.h"
#include "search/commands/sweep_dir.h"
#include "search/model_check.h"
#include "search/run.h"
#include "search/sweep_folder.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// A terminal that understands cursor movements.
bool StdoutIsTerminal() {
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return !dumb && isatty(STDOUT_FILENO) == 1;
}

std::optional<fs::path> OutputOf(const RunCommandOptions& options,
                                 const SearchConfig& config) {
  if (!options.output_directory && !options.experiment_name) return options.output;
  if (options.output) {
    throw ConfigError(
        "--output names the sweep's folder whole, --output_directory and "
        "--experiment_name in two parts: give the one or the others");
  }
  return options.output_directory.value_or("results") /
         options.experiment_name.value_or(config.name);
}

// A model that the built-in trainer refuses is an error of the file: found before the
// sweep's folder is made.
void CheckNewModel(const RunOptions& run) {
  const bool resumes =
      run.old == OldRecord::kResume && fs::exists(run.dir / "sweep.db");
  if (resumes || !run.config.command.empty()) return;
  const auto sampler = MakeSampler(run.config.space, run.config.sampler);
  if (const auto first = sampler->Suggest(TrialId(0), History{})) {
    RequireGoodModel(run.config, *first);
  }
}

// A port that is taken is an error before anything is begun.
int RunBesideDashboard(const StartOptions& start, RunOptions run) {
  std::optional<DashboardBeside> dashboard;
  if (start.dashboard) dashboard.emplace(run.dir, *start.dashboard);
  return RunSweep(std::move(run));
}

}  // namespace

std::vector<Override> OverridesOf(const ConfigOptions& options) {
  std::vector<Override> overrides;
  for (const std::string& text : options.set) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw ConfigError(
          fmt::format("--set {}: write --set key=value, as in --set "
                      "hyperopt.executor.num_samples=20",
                      text));
    }
    overrides.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  if (options.random_seed) {
    overrides.push_back(
        {"hyperopt.search_alg.random_state", std::to_string(*options.random_seed)});
  }
  return overrides;
}

void ApplyStart(const StartOptions& start, RunOptions* run) {
  run->progress = ChooseMode(start.json, start.quiet, StdoutIsTerminal());
  run->resources = start.resources;
  run->local_executor = start.local_executor;
  run->listen = start.listen;
  run->key_file = start.key_file;
  if (!start.local_executor && !start.listen) {
    throw ConfigError(
        "--no-local-executor leaves no one to run a trial: say where executors may "
        "join, as in --listen tcp://0.0.0.0:7777 --key sweep.key");
  }
}

SearchConfig LoadConfig(const ConfigOptions& options) {
  if (options.file && options.text) {
    throw ConfigError("--config and --config_str are both given: choose one");
  }
  const std::vector<Override> overrides = OverridesOf(options);
  if (options.text) {
    return ParseConfig(
        *options.text, "--config_str", fs::current_path(), overrides, options.dataset);
  }
  if (!options.file) {
    throw ConfigError(
        "no search file is named: give one, as search.yaml (hyperopt init writes one, "
        "--help shows more)");
  }
  return LoadConfig(*options.file, overrides, options.dataset);
}

int RunCommand(const RunCommandOptions& options) {
  if (options.dry_run) {
    CheckOptions check;
    check.config = options.config;
    check.dry_run = true;
    check.resources = options.start.resources;
    return CheckCommand(check);
  }
  RunOptions run;
  run.config = LoadConfig(options.config);
  run.dir = SweepDir(run.config, OutputOf(options, run.config));
  if (options.fresh && options.amend) {
    throw ConfigError(
        "--fresh starts over, --amend goes on under the edited file: choose one");
  }
  if (options.fresh) run.old = OldRecord::kStartOver;
  if (options.amend) run.old = OldRecord::kAmend;
  CheckNewModel(run);
  ApplyStart(options.start, &run);
  return RunBesideDashboard(options.start, std::move(run));
}

int ResumeCommand(const ResumeOptions& options) {
  RunOptions run;
  run.dir = SweepDirOf(options.dir);
  run.config = ConfigForResume(ReadSweep(run.dir).record.sweep);
  run.more_samples = options.more_samples;
  run.rerun_failed = options.rerun_failed;
  ApplyStart(options.start, &run);
  return RunBesideDashboard(options.start, std::move(run));
}

int ExecutorCommand(const ExecutorCommandOptions& options) {
  AgentOptions agent;
  agent.endpoint = options.endpoint;
  if (options.key_file) agent.keys = ReadKeyFile(*options.key_file);
  agent.name = options.embedded ? "local" : options.name;
  agent.resources = options.resources;
  agent.own_command = options.own_command;
  agent.embedded_in = options.embedded;
  agent.sweep_id = options.sweep_id;
  agent.fresh = options.fresh_record;
  const LostPolicy usual = options.embedded ? LostPolicy::kStop : LostPolicy::kFinish;
  agent.lost_policy = options.mode.value_or(usual);
  agent.state_dir = options.state_dir
                        ? *options.state_dir
                        : PrivateTmp("executor " + options.name + options.endpoint);
  agent.spool_dir = agent.state_dir / "spool";
  return RunAgent(agent);
}

}  // namespace hyperopt

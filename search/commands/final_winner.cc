// The folder that `final` leaves: all that it takes to run the winner elsewhere.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "executors/attempt_folder.h"
#include "search/commands/final.h"
#include "search/model_check.h"
#include "search/record_start.h"
#include "trial/command.h"
#include "trial/fs.h"
#include "trial/json.h"
#include "trial/merge.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

std::string OriginOf(const SweepRow& row, const char* name) {
  const auto found = row.origin.find(name);
  return found == row.origin.end() ? "" : found->second;
}

// As its ranks got it; where their folder is on another machine, merged once more.
std::string ConfigOf(const RecordedSweep& sweep,
                     const fs::path& attempt,
                     const Params& params) {
  std::string text = ReadFile(attempt / kConfigFile).value_or("");
  if (text.empty()) text = MergeConfig(sweep.config.model, sweep.config.space, params);
  return text;
}

// The best single run of the winner: its folder, its checkpoints.
TrialId BestRun(const RecordedSweep& final_sweep, const FinalResult& winner) {
  TrialId best = winner.runs.front();
  const auto value = [&](TrialId id) {
    const TrialRow& row = TrialOf(final_sweep, id);
    return final_sweep.config.value == ValueRule::kBest ? row.best : row.last;
  };
  for (TrialId id : winner.runs) {
    if (TrialOf(final_sweep, id).state == TrialState::kFailed) continue;
    if (Better(final_sweep.record.sweep.goal, value(id), value(best))) best = id;
  }
  return best;
}

std::vector<std::string> WordsOf(const RecordedSweep& sweep,
                                 const fs::path& attempt,
                                 const RunKey& key,
                                 const Params& params) {
  const SearchConfig& config = sweep.config;
  const std::vector<std::string> command =
      config.command.empty() ? std::vector<std::string>{TrainerCommand(config).front()}
                             : config.command;
  SweepSpec spec = MakeSweepSpec(config, sweep.record.sweep, sweep.dir, command);
  // What is in the environment may be secret and goes into no file: a word of it stays
  // as it is written.
  spec.env.clear();
  spec.env_from.clear();
  std::vector<std::string> environment;
  for (const std::string& name : EnvironmentNames(command)) {
    environment.push_back(fmt::format("{0}=${{env.{0}}}", name));
  }
  Launch launch;
  launch.key = key;
  launch.params = params;
  launch.seed = SeedOfTrial(config.sampler.seed, key.trial);
  return MakeRanks(spec, launch, attempt, environment, 0).front().argv;
}

void Write(const fs::path& file, const std::string& text) {
  WriteFileAtomically(file, text, Durability::kMachine);
}

OrderedJson ResultsToJson(std::span<const FinalResult> results) {
  OrderedJson list = OrderedJson::array();
  for (const FinalResult& result : results) {
    OrderedJson runs = OrderedJson::array();
    for (TrialId id : result.runs) runs.push_back(id.value());
    list.push_back({{"trial", result.finalist.trial.value()},
                    {"params", ParamsToJson(result.finalist.params)},
                    {"mean", NumberToJson(result.mean)},
                    {"deviation", NumberToJson(result.deviation)},
                    {"values", result.values},
                    {"missing", result.missing},
                    {"in_sweep", NumberToJson(result.finalist.value.AsDouble())},
                    {"runs", std::move(runs)}});
  }
  return list;
}

}  // namespace

fs::path WriteWinner(const RecordedSweep& sweep,
                     const RecordedSweep& final_sweep,
                     std::span<const FinalResult> results) {
  const FinalResult& winner = results.front();
  const Params& params = winner.finalist.params;
  const SweepRow& row = final_sweep.record.sweep;
  const TrialId run = BestRun(final_sweep, winner);
  const RunKey key{run, RunId(0), TrialOf(final_sweep, run).attempt};
  const fs::path dir = fs::absolute(sweep.dir).lexically_normal();
  const fs::path attempt = AttemptDir(dir / "final", key);
  const std::string config = ConfigOf(final_sweep, attempt, params);
  const std::vector<std::string> words = WordsOf(final_sweep, attempt, key, params);
  const fs::path folder = dir / "best";
  fs::create_directories(folder);
  const std::string diff = OriginOf(row, "diff");
  OrderedJson best = {{"trial", winner.finalist.trial.value()},
                      {"metric", row.metric},
                      {"goal", ToString(row.goal)},
                      {"mean", NumberToJson(winner.mean)},
                      {"deviation", NumberToJson(winner.deviation)},
                      {"values", winner.values},
                      {"params", ParamsToJson(params)},
                      {"command", words},
                      {"cwd", OriginOf(row, "cwd")},
                      {"commit", OriginOf(row, "commit")},
                      {"branch", OriginOf(row, "branch")},
                      {"uncommitted", !diff.empty()},
                      {"sweep_commit", OriginOf(sweep.record.sweep, "commit")},
                      {"run", run.value()},
                      {"run_folder", attempt.string()},
                      {"configurations", ResultsToJson(results)}};
  Write(folder / "params.json", ToJsonText(params) + "\n");
  Write(folder / "config.json", config + "\n");
  Write(folder / "command.json", DumpJson(OrderedJson(words)) + "\n");
  std::error_code absent;
  fs::remove(folder / "code.diff", absent);
  if (!diff.empty()) Write(folder / "code.diff", diff);
  // Last, so that a folder with it is whole.
  Write(folder / "best.json", DumpJson(best, 2) + "\n");
  return folder;
}

}  // namespace hyperopt

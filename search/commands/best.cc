#include "search/commands/best.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "search/objectives.h"
#include "search/recorded_history.h"
#include "search/standing_text.h"
#include "search/status.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/merge.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

fs::path AttemptFolder(const fs::path& dir, const RunKey& key) {
  return dir / fmt::format("trials/{}/{}/{}",
                           key.trial.value(),
                           key.run.value(),
                           key.attempt.value());
}

// Runs are by (run, attempt): of two attempts with the same step the later one's.
void FindCheckpoint(const RecordedSweep& sweep, const fs::path& dir, BestTrial* best) {
  for (const RunRow& run : sweep.store->LoadRuns(best->trial)) {
    for (int64_t step : run.checkpoints) {
      const fs::path path =
          AttemptFolder(dir, run.key) / "checkpoints" / std::to_string(step);
      const bool better = step == best->step || best->checkpoint_step != best->step;
      if (!better || !fs::exists(path / "COMPLETE")) continue;
      best->checkpoint = path;
      best->checkpoint_step = step;
    }
  }
}

OrderedJson FrontToJson(const RecordedSweep& sweep) {
  OrderedJson list = OrderedJson::array();
  for (const FrontTrial& trial :
       ParetoFront(*sweep.store, sweep.record.trials, sweep.config)) {
    OrderedJson values = {{sweep.record.sweep.metric, trial.values[0]}};
    for (size_t i = 0; i < sweep.config.objectives.size(); ++i) {
      values[sweep.config.objectives[i].metric] = trial.values[i + 1];
    }
    const TrialId ids[] = {trial.trial};
    list.push_back({{"trial", trial.trial.value()},
                    {"values", std::move(values)},
                    {"params", ParamsToJson(sweep.store->LoadParams(ids).front())}});
  }
  return list;
}

}  // namespace

std::optional<BestTrial> FindBestTrial(const RecordedSweep& sweep) {
  const TrialRow* row = FindBest(sweep.record.trials, sweep.config);
  if (row == nullptr) return std::nullopt;
  const BestSoFar so_far = BestOf(*row, sweep.config.value);
  const fs::path dir = fs::absolute(sweep.dir).lexically_normal();
  BestTrial best;
  best.trial = row->id;
  best.state = row->state;
  best.value = so_far.value;
  best.step = so_far.step;
  if (sweep.config.repeats > 1) {
    const Race race = RaceOf(sweep.record.trials, sweep.config, TrialId(0));
    best.standing = race.Of(row->id);
    best.value = Objective::Of(best.standing->mean);
  }
  const TrialId ids[] = {row->id};
  best.params = sweep.store->LoadParams(ids).front();
  best.folder = AttemptFolder(dir, {row->id, RunId(0), row->attempt});
  best.config_file = best.folder / "config.json";
  // As its ranks got it; where their folder is on another machine, merged once more.
  best.config = ReadFile(best.config_file).value_or("");
  if (best.config.empty()) {
    best.config = MergeConfig(sweep.config.model, sweep.config.space, best.params);
  }
  FindCheckpoint(sweep, dir, &best);
  return best;
}

OrderedJson BestToJson(const RecordedSweep& sweep, const BestTrial& best) {
  OrderedJson json = {{"trial", best.trial.value()},
                      {"state", ToString(best.state)},
                      {"metric", sweep.record.sweep.metric},
                      {"goal", ToString(sweep.record.sweep.goal)},
                      {"value", NumberToJson(best.value.AsDouble())},
                      {"step", best.step},
                      {"params", ParamsToJson(best.params)},
                      {"config", ParseJson(best.config)},
                      {"config_file", best.config_file.string()},
                      {"folder", best.folder.string()},
                      {"checkpoint", nullptr},
                      {"checkpoint_step", nullptr}};
  if (!best.checkpoint.empty()) {
    json["checkpoint"] = best.checkpoint.string();
    json["checkpoint_step"] = best.checkpoint_step;
  }
  if (best.standing) json["repeats"] = StandingToJson(*best.standing);
  if (!sweep.config.objectives.empty()) json["front"] = FrontToJson(sweep);
  return json;
}

std::optional<BestTrial> WriteBest(const fs::path& dir) {
  const RecordedSweep sweep = ReadSweep(dir);
  std::optional<BestTrial> best = FindBestTrial(sweep);
  if (best) {
    WriteFileAtomically(dir / "best.json",
                        DumpJson(BestToJson(sweep, *best), 2) + "\n",
                        Durability::kProcess);
  }
  return best;
}

}  // namespace hyperopt

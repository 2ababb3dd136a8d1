#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "search/commands/ask_controller.h"
#include "search/commands/look.h"
#include "search/commands/recorded_sweep.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/trial_words.h"
#include "search/format.h"
#include "search/outcome.h"
#include "search/scheduler.h"
#include "search/sweep_folder.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

// What the record knows of the trial's past.
void AddPast(const RecordedSweep& sweep, TrialId id, std::vector<std::string>* lines) {
  for (const RunRow& run : sweep.store->LoadRuns(id)) {
    std::optional<ExecutorRow> executor;
    for (const ExecutorRow& row : sweep.record.executors) {
      if (row.id == run.executor) executor = row;
    }
    lines->push_back(RunLine(run, TrialOf(sweep, id), executor));
  }
  for (const RungRow& rung : sweep.record.rungs) {
    if (rung.trial == id) lines->push_back(RungLine(rung, sweep.config.scheduler));
  }
}

// What a paused trial waits for, where no controller runs that could say it.
std::string WaitsFor(const RecordedSweep& sweep, const TrialRow& trial) {
  if (trial.state != TrialState::kPaused) return "";
  const auto scheduler = MakeScheduler(
      sweep.config.scheduler, sweep.record.sweep.goal, sweep.config.sampler.seed);
  scheduler->Restore(sweep.record.rungs);
  scheduler->OnPaused(trial.id);
  return scheduler->WaitsFor(trial.id);
}

}  // namespace

int ExplainCommand(const ExplainOptions& options) {
  const std::filesystem::path dir = SweepDirOf(options.dir);
  const TrialId id(options.trial);
  const RecordedSweep sweep = ReadSweep(dir);
  std::vector<std::string> lines;
  if (const auto answer =
          AskController(dir, {{"op", "explain"}, {"trial", options.trial}})) {
    lines = answer->at("lines").get<std::vector<std::string>>();
    if (id.value() >= 0 && id.value() < std::ssize(sweep.record.trials)) {
      AddPast(sweep, id, &lines);
    }
  } else {
    const TrialRow& row = TrialOf(sweep, id);
    lines.push_back(StateText(row));
    if (const std::string waits = WaitsFor(sweep, row); !waits.empty()) {
      lines.push_back(waits);
    }
    if (!IsFinished(row.state)) {
      lines.push_back(FindController(dir)
                          ? "the controller of this sweep does not answer here"
                          : "no controller runs; go on with: hyperopt resume " +
                                QuoteShellWord(dir.string()));
    }
    AddPast(sweep, id, &lines);
  }
  if (options.json) {
    std::printf("%s\n", DumpJson({{"trial", options.trial}, {"lines", lines}}).c_str());
    return 0;
  }
  for (const std::string& line : lines) std::printf("%s\n", Printable(line).c_str());
  return 0;
}

}  // namespace hyperopt

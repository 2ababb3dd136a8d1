#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "search/commands/ask_controller.h"
#include "search/commands/look.h"
#include "search/commands/recorded_sweep.h"
#include "search/commands/sweep_dir.h"
#include "search/format.h"
#include "search/outcome.h"
#include "search/sweep_folder.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

// Where a run was, as "on vm" or "on gpu-1 (node7)".
std::string PlaceText(const RecordedSweep& sweep, const RunRow& run) {
  for (const ExecutorRow& row : sweep.record.executors) {
    if (row.id == run.executor && !row.embedded) {
      return fmt::format("on {} ({})", row.name, run.host);
    }
  }
  return "on " + run.host;
}

// How a run ended, without the codes and signals of ends that were asked for.
std::string EndText(const RecordedSweep& sweep, const RunRow& run) {
  const TrialRow& trial = TrialOf(sweep, run.key.trial);
  const std::string after =
      run.started > 0 ? " after " + DurationText(run.ended - run.started) : "";
  if (run.outcome == "stopped") {
    const bool to_the_end =
        trial.reason == Reason::kMaxTime && trial.attempt == run.key.attempt;
    return (to_the_end ? "ended at max_t" : "stopped") + after;
  }
  if (run.outcome == "exit" && run.exit_code) {
    return fmt::format("ended{} with exit code {}", after, *run.exit_code);
  }
  if (run.outcome == "signal" && run.signal) {
    return fmt::format("ended{} by signal {}", after, *run.signal);
  }
  return run.outcome + (run.outcome == "not started" ? "" : after);
}

std::string RunLine(const RecordedSweep& sweep, const RunRow& run) {
  std::string line =
      fmt::format("attempt {}: {}", run.key.attempt.value(), PlaceText(sweep, run));
  if (!run.devices.empty())
    line += fmt::format(", GPUs {}", fmt::join(run.devices, ","));
  if (!run.resume_from.empty()) line += ", from " + run.resume_from;
  return line + (run.ended == 0 ? ", not ended" : ", " + EndText(sweep, run));
}

std::string RungLine(const RungRow& rung) {
  if (rung.value.missing()) {
    return fmt::format("rung {} (at {}): failed before it, counts as the worst",
                       rung.rung,
                       rung.level);
  }
  return fmt::format("rung {} (at {}{}): {} at {}, {}{}",
                     rung.rung,
                     rung.level,
                     rung.bracket > 0 ? fmt::format(", bracket {}", rung.bracket) : "",
                     NumberText(rung.value),
                     rung.time,
                     rung.stopped ? "stopped" : "went on",
                     rung.late ? "; passed over, counts for nobody" : "");
}

// What the record knows of the trial's past.
void AddPast(const RecordedSweep& sweep, TrialId id, std::vector<std::string>* lines) {
  for (const RunRow& run : sweep.store->LoadRuns(id)) {
    lines->push_back(RunLine(sweep, run));
  }
  for (const RungRow& rung : sweep.record.rungs) {
    if (rung.trial == id) lines->push_back(RungLine(rung));
  }
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

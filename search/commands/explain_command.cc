#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "search/commands/ask_controller.h"
#include "search/commands/look.h"
#include "search/commands/recorded_sweep.h"
#include "search/commands/sweep_dir.h"
#include "search/format.h"
#include "search/sweep_folder.h"

namespace hyperopt {
namespace {

std::string StateLine(const TrialRow& row) {
  std::string line = fmt::format("trial {} is {}", row.id.value(), ToString(row.state));
  if (row.reason != Reason::kNone) line += fmt::format(" ({})", ToString(row.reason));
  if (!row.detail.empty()) line += ": " + row.detail;
  return line;
}

std::string RunLine(const RecordedSweep& sweep, const RunRow& run) {
  std::string executor = "?";
  for (const ExecutorRow& row : sweep.record.executors) {
    if (row.id == run.executor) executor = row.name;
  }
  std::string line = fmt::format(
      "attempt {}: on {} ({})", run.key.attempt.value(), executor, run.host);
  if (!run.devices.empty())
    line += fmt::format(", GPUs {}", fmt::join(run.devices, ","));
  if (!run.resume_from.empty()) line += ", from " + run.resume_from;
  if (run.ended == 0) return line + ", not ended";
  line +=
      fmt::format(", {} after {}", run.outcome, DurationText(run.ended - run.started));
  if (run.exit_code) line += fmt::format(", exit code {}", *run.exit_code);
  if (run.signal) line += fmt::format(", signal {}", *run.signal);
  return line;
}

std::string RungLine(const RungRow& rung) {
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
    lines.push_back(StateLine(row));
    if (!IsFinished(row.state)) {
      lines.push_back(FindController(dir)
                          ? "the controller of this sweep does not answer here"
                          : "no controller runs; go on with: hyperopt resume " +
                                dir.string());
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

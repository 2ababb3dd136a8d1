#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "executors/setup_environment.h"
#include "search/commands/by_hand.h"
#include "search/commands/show.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/text_width.h"
#include "search/commands/trial_facts.h"
#include "search/commands/trial_words.h"
#include "search/curve_plot.h"
#include "search/format.h"
#include "search/outcome.h"
#include "search/standing_text.h"
#include "trial/json.h"
#include "trial/resources.h"

namespace hyperopt {
namespace {

constexpr size_t kWidest = 79;

void Say(std::string_view line) {
  std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
}
void SayUnder(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  Say("");
  Say(title);
  for (const std::string& line : lines) Say("  " + line);
}
void SayWrapped(const std::string& title, std::vector<std::string> lines) {
  for (std::string& line : lines) line = Wrapped(line, TextWidth() - 2, 6);
  SayUnder(title, lines);
}

std::vector<std::string> ParamLines(const Params& params, size_t width) {
  size_t longest = 0;
  for (const auto& [name, value] : params) {
    longest = std::max(longest, DisplayWidth(name));
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : params) {
    const std::string gap(longest - DisplayWidth(name), ' ');
    lines.push_back(Shortened(Printable(name + gap + "  " + ToWord(value)), width));
  }
  return lines;
}

std::string ResultLine(const TrialRow& row) {
  if (row.reports == 0) return "no report with the metric yet";
  return fmt::format("best {} at step {}, last {} at step {}; {} report{}",
                     NumberText(row.best),
                     row.best_step,
                     NumberText(row.last),
                     row.last_step,
                     row.reports,
                     row.reports == 1 ? "" : "s");
}

std::vector<std::string> AttemptLines(const TrialFacts& facts) {
  std::vector<std::string> lines;
  for (const RunRow& run : facts.runs) {
    const auto executor = facts.executors.find(run.executor);
    std::string line =
        RunLine(run,
                facts.row,
                executor == facts.executors.end() ? std::nullopt
                                                  : std::optional(executor->second));
    if (run.peak_memory > 0) line += ", peak memory " + SizeToText(run.peak_memory);
    lines.push_back(Printable(line));
  }
  return lines;
}

// `keep` deletes folders, and those of other machines are not here.
std::string FolderLine(const TrialFacts& facts) {
  const RunKey& key = facts.runs.back().key;
  const std::filesystem::path folder = AttemptFolder(facts.dir, key);
  std::error_code error;
  if (std::filesystem::exists(folder, error)) return folder.string();
  const bool is_kept = std::ranges::any_of(
      facts.files, [&key](const FileRow& file) { return file.key == key; });
  if (is_kept) return "deleted, as `keep` says; what it printed is in the record";
  return folder.string() + " (not there now)";
}

void Print(const TrialFacts& facts) {
  const size_t width = TextWidth();
  const size_t narrow = std::min(width, kWidest);
  Say(Wrapped(Printable(StateText(facts.row)), width, 2));
  Say(fmt::format("  {}: {}", Printable(facts.sweep.metric), ResultLine(facts.row)));
  if (facts.race) {
    const Standing& standing = facts.race->Of(facts.row.id);
    Say(Printable(fmt::format("  its settings, {}: {} {}",
                              TrialsText(standing),
                              facts.sweep.metric,
                              MeanText(standing))));
  }
  if (facts.row.parent) Say("  " + ParentText(facts.row, facts.config.repeats));
  SayUnder("parameters", ParamLines(facts.params, width - 2));
  if (facts.curve.size() > 1) {
    SayUnder(Printable(facts.sweep.metric) + " by step",
             PlotCurve(facts.curve,
                       SpeaksUtf8() ? PlotInk::kBraille : PlotInk::kAscii,
                       {narrow - 2, 8}));
  }
  std::vector<std::string> rungs;
  for (const RungRow& rung : facts.rungs)
    rungs.push_back(RungLine(rung, facts.config.scheduler));
  SayWrapped("rungs", rungs);
  SayWrapped("attempts", AttemptLines(facts));
  if (!facts.runs.empty()) {
    SayUnder("files", {FolderLine(facts)});
  }
  if (!facts.checkpoint.empty()) SayUnder("checkpoint", {facts.checkpoint.string()});
  SayUnder("last lines of stderr", facts.last_words);
  const std::string line = ByHandLine(facts, OwnEnvironment());
  if (!line.empty()) {
    Say("\nto run it by hand, in a folder of its own:");
    Say(line);
  }
}

OrderedJson NumberOf(const Objective& value) {
  return value.missing() ? OrderedJson() : NumberToJson(value.AsDouble());
}
OrderedJson TimeOf(WallTime time) {
  return time == 0 ? OrderedJson() : OrderedJson(time);
}

OrderedJson RungToJson(const RungRow& rung) {
  return {{"bracket", rung.bracket},
          {"rung", rung.rung},
          {"level", rung.level},
          {"value", NumberOf(rung.value)},
          {"time", rung.time},
          {"late", rung.late},
          {"stopped", rung.stopped}};
}

OrderedJson AttemptToJson(const TrialFacts& facts, const RunRow& run) {
  const auto executor = facts.executors.find(run.executor);
  OrderedJson json = {
      {"attempt", run.key.attempt.value()},
      {"executor", executor == facts.executors.end() ? "" : executor->second.name},
      {"host", run.host},
      {"devices", run.devices},
      {"started", TimeOf(run.started)},
      {"ended", TimeOf(run.ended)},
      {"outcome", run.outcome},
      {"exit_code", nullptr},
      {"signal", nullptr},
      {"peak_memory", run.peak_memory},
      {"resume_from", run.resume_from},
      {"folder", AttemptFolder(facts.dir, run.key).string()}};
  if (run.exit_code) json["exit_code"] = *run.exit_code;
  if (run.signal) json["signal"] = *run.signal;
  return json;
}

void PrintJson(const TrialFacts& facts) {
  const TrialRow& row = facts.row;
  OrderedJson json = {{"id", row.id.value()},
                      {"state", ToString(row.state)},
                      {"reason", ToString(row.reason)},
                      {"detail", row.detail},
                      {"metric", facts.sweep.metric},
                      {"best", NumberOf(row.best)},
                      {"best_step", row.best_step},
                      {"last", NumberOf(row.last)},
                      {"last_step", row.last_step},
                      {"reports", row.reports},
                      {"params", ParamsToJson(facts.params)},
                      {"curve", OrderedJson::array()},
                      {"rungs", OrderedJson::array()},
                      {"attempts", OrderedJson::array()},
                      {"checkpoint", nullptr},
                      {"folder", nullptr},
                      {"stderr", facts.last_words},
                      {"by_hand", nullptr}};
  for (const auto& [step, value] : facts.curve) {
    json["curve"].push_back(OrderedJson::array({step, NumberToJson(value)}));
  }
  for (const RungRow& rung : facts.rungs) json["rungs"].push_back(RungToJson(rung));
  for (const RunRow& run : facts.runs) {
    json["attempts"].push_back(AttemptToJson(facts, run));
    json["folder"] = json["attempts"].back()["folder"];
  }
  if (facts.race) json["repeats"] = StandingToJson(facts.race->Of(facts.row.id));
  if (!facts.checkpoint.empty()) json["checkpoint"] = facts.checkpoint.string();
  const std::string line = ByHandLine(facts, OwnEnvironment());
  if (!line.empty()) json["by_hand"] = line;
  Say(DumpJson(json));
}

}  // namespace

int ShowCommand(const ShowOptions& options) {
  const TrialFacts facts = ReadTrial(SweepDirOf(options.dir), TrialId(options.trial));
  options.json ? PrintJson(facts) : Print(facts);
  return 0;
}

}  // namespace hyperopt

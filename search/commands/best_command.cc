#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "search/commands/best.h"
#include "search/commands/best_format.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/sweep_facts.h"
#include "search/commands/text_width.h"
#include "search/commands/trials_table.h"
#include "search/format.h"
#include "search/objectives.h"
#include "search/standing_text.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

constexpr auto kNone = static_cast<int>(ExitCode::kNoTrialCompleted);

// The trials that no other beats in every objective.
void PrintFront(const RecordedSweep& sweep) {
  const std::vector<FrontTrial> front =
      ParetoFront(*sweep.store, sweep.record.trials, sweep.config);
  std::printf(
      "%s\n",
      Printable(
          fmt::format("{} trade {} off: no other is better in one and worse in none",
                      front.size() == 1 ? "1 trial does not"
                                        : fmt::format("{} trials", front.size()),
                      ObjectivesText(sweep.config)))
          .c_str());
  constexpr auto kRight = Table::Align::kRight;
  std::vector<Table::Column> columns = {{"trial", kRight, Table::Yield::kLast},
                                        {sweep.record.sweep.metric, kRight}};
  for (const OtherObjective& each : sweep.config.objectives) {
    columns.push_back({each.metric, kRight});
  }
  for (const Parameter& parameter : sweep.config.space.parameters()) {
    columns.push_back({parameter.name, kRight});
  }
  Table table(columns);
  for (const FrontTrial& trial : front) {
    std::vector<std::string> cells = {std::to_string(trial.trial.value())};
    for (const double value : trial.values) {
      cells.push_back(NumberText(Objective::Of(value)));
    }
    const TrialId ids[] = {trial.trial};
    const Params params = sweep.store->LoadParams(ids).front();
    for (const Parameter& parameter : sweep.config.space.parameters()) {
      const auto value = params.find(parameter.name);
      cells.push_back(value == params.end() ? "-" : ValueText(value->second));
    }
    table.AddRow(std::move(cells));
  }
  std::printf("%s\nThe best by the first of them:\n",
              table.ToText(TextWidth()).c_str());
}

// Not its configuration's mean.
const Objective& OwnValue(const RecordedSweep& sweep, const BestTrial& best) {
  return RankedValue(TrialOf(sweep, best.trial), sweep.config.value);
}

void Print(const RecordedSweep& sweep, const BestTrial& best) {
  if (!sweep.config.objectives.empty()) PrintFront(sweep);
  if (best.standing) {
    std::printf("%s\n",
                Printable(fmt::format("{} {}: the mean of {}; the best of them:",
                                      sweep.record.sweep.metric,
                                      MeanText(*best.standing),
                                      TrialsText(*best.standing)))
                    .c_str());
  }
  std::printf("%s\n",
              Printable(fmt::format("{} {} (trial {}, {}, step {})",
                                    sweep.record.sweep.metric,
                                    NumberText(OwnValue(sweep, best)),
                                    best.trial.value(),
                                    ToString(best.state),
                                    best.step))
                  .c_str());
  for (const auto& [name, value] : best.params) {
    std::printf("  %s\n", Printable(name + " = " + ToWord(value)).c_str());
  }
  std::printf("config      %s\n", best.config_file.c_str());
  if (best.checkpoint.empty()) {
    std::printf("checkpoint  none\n");
  } else {
    std::printf("checkpoint  %s%s\n",
                best.checkpoint.c_str(),
                best.checkpoint_step == best.step ? "" : " (of another step)");
  }
  std::printf("also in     %s\n", (sweep.dir / "best.json").c_str());
}

int SayNone(const std::string& metric) {
  std::fprintf(
      stderr, "hyperopt: no trial has a finite %s yet\n", Printable(metric).c_str());
  return kNone;
}

// For a program: nothing is written, and nothing else is said on stdout.
int PrintFor(const std::filesystem::path& dir, BestFormat format) {
  const SweepFacts facts(dir);
  const std::vector<TrialRow> best = BestTrials(facts, 1);
  if (best.empty()) return SayNone(facts.sweep.metric);
  if (format == BestFormat::kValue) {
    const Objective value = Summarize(facts).best->value;
    std::printf("%s\n", ToWord(value.AsDouble()).c_str());
    return 0;
  }
  const Params params = facts.query.ParamsOf(best).front();
  const std::string text = FormatParams(facts.config, params, format);
  std::fputs(text.c_str(), stdout);
  if (format == BestFormat::kArgs && text.find('\'') != text.npos) {
    std::fputs(
        "hyperopt: a word is quoted for the shell: a plain $(...) would keep the "
        "quotes; "
        "write eval \"PROGRAM $(hyperopt best ... --format args)\"\n",
        stderr);
  }
  return 0;
}

int PrintTop(const std::filesystem::path& dir, int64_t top) {
  const SweepFacts facts(dir);
  const std::vector<TrialRow> rows = BestTrials(facts, top);
  if (rows.empty()) return SayNone(facts.sweep.metric);
  std::fputs(TrialsTable(facts, rows, TextWidth()).c_str(), stdout);
  return 0;
}

}  // namespace

int BestCommand(const BestOptions& options) {
  const int asked = options.json + options.format.has_value() + options.top.has_value();
  if (asked > 1) {
    throw ConfigError(
        "--format, --json and --top are three ways to show it: choose one");
  }
  const std::filesystem::path dir = SweepDirOf(options.dir);
  if (options.format) return PrintFor(dir, *options.format);
  if (options.top) return PrintTop(dir, *options.top);
  const RecordedSweep sweep = ReadSweep(dir);
  const std::optional<BestTrial> best = FindBestTrial(sweep);
  if (!best) return SayNone(sweep.record.sweep.metric);
  const std::string text = DumpJson(BestToJson(sweep, *best), 2) + "\n";
  WriteFileAtomically(sweep.dir / "best.json", text, Durability::kProcess);
  if (options.json) {
    std::fputs(text.c_str(), stdout);
  } else {
    Print(sweep, *best);
  }
  return 0;
}

}  // namespace hyperopt

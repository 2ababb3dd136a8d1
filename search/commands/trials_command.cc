#include <cstdio>
#include <nlohmann/json.hpp>

#include "search/commands/look.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/sweep_facts.h"
#include "search/commands/text_width.h"
#include "search/commands/trials_order.h"
#include "search/commands/trials_plot.h"
#include "search/commands/trials_table.h"
#include "search/standing_text.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

OrderedJson NumberOf(const Objective& value) {
  return value.missing() ? OrderedJson() : NumberToJson(value.AsDouble());
}

void PrintJson(const SweepFacts& facts, const std::vector<TrialRow>& rows) {
  const std::vector<Params> params = facts.query.ParamsOf(rows);
  const std::optional<Race> race = RaceOf(facts);
  std::fputs("[", stdout);
  const char* between = "\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    const TrialRow& row = rows[i];
    OrderedJson json = {{"id", row.id.value()},
                        {"state", ToString(row.state)},
                        {"reason", ToString(row.reason)},
                        {"detail", row.detail},
                        {"attempt", row.attempt.value()},
                        {"best", NumberOf(row.best)},
                        {"best_step", row.best_step},
                        {"last", NumberOf(row.last)},
                        {"last_step", row.last_step},
                        {"params", ParamsToJson(params[i])}};
    if (race) json["repeats"] = StandingToJson(race->Of(row.id));
    std::printf("%s%s", between, DumpJson(json).c_str());
    between = ",\n";
  }
  std::fputs("\n]\n", stdout);
}

int64_t CountOf(const SweepFacts& facts, const std::optional<TrialState>& state) {
  int64_t count = 0;
  for (const auto& [each, trials] : facts.Counts()) {
    if (!state || each == *state) count += trials;
  }
  return count;
}

}  // namespace

int TrialsCommand(const TrialsOptions& options) {
  const SweepFacts facts(SweepDirOf(options.dir));
  const std::vector<TrialRow> rows = OrderedTrials(facts, options);
  if (options.json) {
    PrintJson(facts, rows);
    return 0;
  }
  if (options.plot) {
    for (const std::string& line : BestSoFarPlot(facts, TextWidth())) {
      std::printf("%s\n", line.c_str());
    }
    std::printf("\n");
  }
  if (rows.empty()) {
    std::printf("no trials%s\n", options.state ? " in this state" : " yet");
    return 0;
  }
  std::fputs(TrialsTable(facts, rows, TextWidth()).c_str(), stdout);
  const int64_t more = CountOf(facts, options.state) - std::ssize(rows);
  if (more > 0) {
    std::printf("%lld more (--limit 0 shows all)\n", static_cast<long long>(more));
  }
  return 0;
}

}  // namespace hyperopt

#include "search/commands/sweep_facts.h"

#include "search/commands/recorded_sweep.h"
#include "search/proposals.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

std::filesystem::path RecordOf(const std::filesystem::path& dir) {
  RequireSweep(dir);
  return dir / "sweep.db";
}

}  // namespace

SweepFacts::SweepFacts(std::filesystem::path the_dir)
    : dir(std::move(the_dir)), query(RecordOf(dir)) {
  std::optional<SweepRow> row = query.Sweep();
  if (!row) throw ConfigError(dir.string() + ": the sweep has not begun yet");
  sweep = *std::move(row);
  config = ConfigOfRecord(sweep);
}

std::vector<TrialRow> BestTrials(const SweepFacts& facts, int64_t count) {
  TrialsWanted wanted;
  wanted.order =
      facts.config.value == ValueRule::kBest ? TrialColumn::kBest : TrialColumn::kLast;
  wanted.goal = facts.sweep.goal;
  wanted.only_ranked = true;
  wanted.limit = count;
  return facts.query.Trials(wanted);
}

RecordSummary Summarize(const SweepFacts& facts) {
  RecordSummary summary;
  summary.sweep = facts.sweep;
  summary.counts = facts.query.Counts();
  summary.proposed = facts.query.CountProposed(CurrentEra(facts.sweep).first);
  const std::vector<TrialRow> best = BestTrials(facts, 1);
  if (!best.empty()) summary.best = BestOf(best.front(), facts.config.value);
  return summary;
}

}  // namespace hyperopt

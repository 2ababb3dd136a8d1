#include "search/commands/sweep_facts.h"

#include <algorithm>

#include "search/commands/recorded_sweep.h"
#include "search/proposals.h"
#include "search/recorded_history.h"
#include "search/standby.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

std::filesystem::path RecordOf(const std::filesystem::path& dir) {
  RequireSweep(dir);
  return dir / "sweep.db";
}

std::vector<TrialRow> AllTrials(const SweepFacts& facts) {
  TrialsWanted wanted;
  wanted.order = TrialColumn::kId;
  return facts.Trials(wanted);
}

std::vector<TrialRow> BestConfigurations(const SweepFacts& facts, int64_t count) {
  const std::vector<TrialRow> rows = AllTrials(facts);
  const Race race = RaceOf(rows, facts.config, TrialId(0));
  std::vector<TrialRow> best;
  for (const Standing* standing : race.Ranked()) {
    if (std::ssize(best) == count) break;
    if (!standing->best) continue;
    best.push_back(rows[static_cast<size_t>(standing->best->value())]);
  }
  return best;
}

}  // namespace

SweepFacts::SweepFacts(std::filesystem::path the_dir)
    : dir(std::move(the_dir)), query(RecordOf(dir)) {
  std::optional<SweepRow> row = query.Sweep();
  if (!row) throw ConfigError(dir.string() + ": the sweep has not begun yet");
  sweep = *std::move(row);
  config = ConfigOfRecord(sweep);
  TrialsWanted running;
  running.order = TrialColumn::kId;
  running.state = TrialState::kRunning;
  standing_by_ = StandingBy(query.store(), query.Trials(running));
}

std::vector<TrialRow> SweepFacts::Trials(TrialsWanted wanted) const {
  wanted.waiting = standing_by_;
  std::vector<TrialRow> rows = query.Trials(wanted);
  for (TrialRow& row : rows) {
    if (standing_by_.contains(row.id)) MakeWaiting(&row);
  }
  return rows;
}

std::map<TrialState, int64_t> SweepFacts::Counts() const {
  std::map<TrialState, int64_t> counts = query.Counts();
  const int64_t waiting = std::ssize(standing_by_);
  if (waiting == 0) return counts;
  // Some may have begun, or ended, since they were asked for.
  const int64_t moved = std::min(waiting, counts[TrialState::kRunning]);
  counts[TrialState::kRunning] -= moved;
  counts[TrialState::kPending] += moved;
  return counts;
}

std::optional<Race> RaceOf(const SweepFacts& facts) {
  if (facts.config.repeats == 1) return std::nullopt;
  return RaceOf(AllTrials(facts), facts.config, TrialId(0));
}

std::vector<TrialRow> BestTrials(const SweepFacts& facts, int64_t count) {
  if (facts.config.repeats > 1) return BestConfigurations(facts, count);
  TrialsWanted wanted;
  wanted.order =
      facts.config.value == ValueRule::kBest ? TrialColumn::kBest : TrialColumn::kLast;
  wanted.goal = facts.sweep.goal;
  wanted.only_ranked = true;
  wanted.limit = count;
  return facts.Trials(wanted);
}

RecordSummary Summarize(const SweepFacts& facts) {
  RecordSummary summary;
  summary.sweep = facts.sweep;
  summary.counts = facts.Counts();
  summary.proposed = facts.query.CountProposed(CurrentEra(facts.sweep).first);
  if (facts.config.repeats > 1) {
    summary.best = FindBestSoFar(AllTrials(facts), facts.config);
    return summary;
  }
  const std::vector<TrialRow> best = BestTrials(facts, 1);
  if (!best.empty()) summary.best = BestOf(best.front(), facts.config.value);
  return summary;
}

}  // namespace hyperopt

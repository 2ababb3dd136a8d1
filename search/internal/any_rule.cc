#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "search/internal/schedulers.h"

namespace hyperopt::internal {
namespace {

// Where several rules end a trial at once, the kindest word is said.
Decision Kinder(Decision a, Decision b) {
  const auto kindness = [](Decision decision) {
    switch (decision) {
      case Decision::kContinue:
        return 0;
      case Decision::kStop:
        return 1;
      case Decision::kConverged:
        return 2;
      case Decision::kTarget:
        return 3;
      case Decision::kPause:
        break;  // no rule that waits is among them
    }
    return -1;
  };
  return kindness(a) >= kindness(b) ? a : b;
}

// What an entry of a rule says to its trial.
Decision DecisionOf(const RungRow& row, SchedulerKind kind) {
  if (row.stopped) return Decision::kStop;
  if (kind == SchedulerKind::kTarget) return Decision::kTarget;
  const bool converges =
      kind == SchedulerKind::kPatience || kind == SchedulerKind::kPlateau;
  return converges ? Decision::kConverged : Decision::kContinue;
}

class Any final : public Scheduler {
 public:
  Any(const SchedulerOptions& options, Goal goal, uint64_t seed)
      : max_time_(MaxTime(options)) {
    int32_t bracket = 0;
    for (const SchedulerOptions& each : options.of) {
      rules_.push_back({MakeScheduler(each, goal, seed), each.kind, bracket, 1});
      if (each.kind == SchedulerKind::kAsha) {
        rules_.back().brackets = static_cast<int32_t>(BracketWeights(each).size());
      }
      bracket += rules_.back().brackets;
    }
  }

  void Restore(std::span<const RungRow> rungs) override {
    for (Rule& rule : rules_) {
      std::vector<RungRow> own;
      for (RungRow row : rungs) {
        // What is beyond all brackets is the last rule's to refuse.
        const bool beyond = row.bracket >= rule.first + rule.brackets;
        if (row.bracket < rule.first || (beyond && &rule != &rules_.back())) continue;
        row.bracket -= rule.first;
        own.push_back(row);
        End(row.trial, DecisionOf(row, rule.kind));
      }
      rule.scheduler->Restore(own);
    }
    for (const RungRow& row : rungs) next_order_ = std::max(next_order_, row.order + 1);
  }

  void Observe(TrialId trial, int64_t time, const Objective& value) override {
    for (Rule& rule : rules_) rule.scheduler->Observe(trial, time, value);
  }

  Verdict OnMeasurement(TrialId trial, int64_t time, const Objective& value) override {
    if (const auto ended = ended_.find(trial.value()); ended != ended_.end()) {
      Observe(trial, time, value);
      return {ended->second, {}};
    }
    Verdict verdict;
    for (Rule& rule : rules_) {
      // At max_t a trial is complete whatever the other rules say.
      if (max_time_ && time >= *max_time_ && !rule.scheduler->max_time()) {
        rule.scheduler->Observe(trial, time, value);
        continue;
      }
      Verdict own = rule.scheduler->OnMeasurement(trial, time, value);
      verdict.decision = Kinder(verdict.decision, own.decision);
      Append(std::move(own.entries), rule, &verdict.entries);
    }
    if (verdict.decision != Decision::kStop) {
      for (RungRow& row : verdict.entries) row.stopped = false;
    }
    End(trial, verdict.decision);
    return verdict;
  }

  std::vector<RungRow> OnFailed(TrialId trial) override {
    std::vector<RungRow> entries;
    if (ended_.contains(trial.value())) return entries;
    for (Rule& rule : rules_) {
      Append(rule.scheduler->OnFailed(trial), rule, &entries);
    }
    return entries;
  }

  std::optional<int64_t> max_time() const override { return max_time_; }

 private:
  struct Rule {
    std::unique_ptr<Scheduler> scheduler;
    SchedulerKind kind;
    int32_t first;  // its brackets in the record are first, first + 1, ...
    int32_t brackets;
  };

  void Append(std::vector<RungRow> rows, const Rule& rule, std::vector<RungRow>* all) {
    for (RungRow& row : rows) {
      row.bracket += rule.first;
      row.order = next_order_++;
      all->push_back(row);
    }
  }

  void End(TrialId trial, Decision decision) {
    if (decision == Decision::kContinue) return;
    Decision& ended = ended_.try_emplace(trial.value(), decision).first->second;
    ended = Kinder(ended, decision);
  }

  const std::optional<int64_t> max_time_;
  std::vector<Rule> rules_;
  std::unordered_map<int64_t, Decision> ended_;  // never iterated
  int64_t next_order_ = 0;
};

}  // namespace

std::unique_ptr<Scheduler> MakeAny(const SchedulerOptions& options,
                                   Goal goal,
                                   uint64_t seed) {
  return std::make_unique<Any>(options, goal, seed);
}

}  // namespace hyperopt::internal

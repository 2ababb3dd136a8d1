// The rules of search/README.md for early stopping, read a second time and as plainly
// as can be: all reports kept, everything counted anew for each. Shares no code with
// the schedulers but the draw of a bracket.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "search/testing/rule_traces.h"

namespace hyperopt::testing {

// Where a reference departs from the rules, to show that a comparison sees it.
enum class RuleMutant { kNone, kTie, kNan, kBackFill };

struct TimedValue {
  int64_t time = 0;
  double value = 0;
};

class RuleReference {
 public:
  RuleReference(const RuleTrace& trace, const SchedulerOptions& options, RuleMutant m)
      : options_(options), goal_(trace.goal), seed_(trace.seed), mutant_(m) {}
  virtual ~RuleReference() = default;
  virtual RuleAnswer Handle(const RuleEvent& event) = 0;

 protected:
  // All that is not finite is worst, and equal.
  bool IsBetter(double a, double b) const {
    if (std::isfinite(a) != std::isfinite(b)) return std::isfinite(a);
    if (!std::isfinite(a)) return false;
    return goal_ == Goal::kMinimize ? a < b : a > b;
  }

  const SchedulerOptions options_;
  const Goal goal_;
  const uint64_t seed_;
  const RuleMutant mutant_;
};

// The rules without rungs.
class CurveReference : public RuleReference {
 public:
  CurveReference(const RuleTrace& trace,
                 const SchedulerOptions& options,
                 RuleMutant mutant,
                 Decision ending)
      : RuleReference(trace, options, mutant), ending_(ending) {}

  RuleAnswer Handle(const RuleEvent& event) override {
    if (event.kind == RuleEvent::Kind::kFailed) return {};
    const bool counts = Counts(event);
    if (counts) curves_[event.trial].push_back({event.time, event.value.AsDouble()});
    if (event.kind == RuleEvent::Kind::kObserved) return {};
    if (ended_.contains(event.trial)) return {ending_, {}};
    if (!counts || !Ends(event.trial)) return {};
    ended_.insert(event.trial);
    RungRow row;
    row.trial = TrialId(event.trial);
    row.level = row.time = event.time;
    row.value = event.value;
    row.stopped = ending_ == Decision::kStop;
    row.order = static_cast<int64_t>(ended_.size()) - 1;
    return {ending_, {row}};
  }

 protected:
  // Whether the trial ends at the report that its curve ends with.
  virtual bool Ends(int64_t trial) const = 0;
  // Where a report of a time gone by is taken in by mistake.
  virtual bool TakesTimesGoneBy() const { return mutant_ == RuleMutant::kBackFill; }

  std::map<int64_t, std::vector<TimedValue>> curves_;

 private:
  bool Counts(const RuleEvent& event) const {
    if (event.value.missing() || event.time < 0) return false;
    const auto curve = curves_.find(event.trial);
    if (curve == curves_.end() || TakesTimesGoneBy()) return true;
    return std::ranges::all_of(
        curve->second, [&](const TimedValue& each) { return each.time < event.time; });
  }

  const Decision ending_;
  std::set<int64_t> ended_;
};

class MedianReference final : public CurveReference {
 public:
  MedianReference(const RuleTrace& trace, const SchedulerOptions& o, RuleMutant m)
      : CurveReference(trace, o, m, Decision::kStop) {}

 private:
  bool TakesTimesGoneBy() const override { return false; }

  bool Ends(int64_t trial) const override {
    const std::vector<TimedValue>& own = curves_.at(trial);
    const int64_t now = own.back().time;
    if (now < options_.grace_period) return false;
    std::vector<double> means;
    for (const auto& [other, curve] : curves_) {
      if (other == trial || curve.back().time < now) continue;
      if (const auto mean = MeanUpTo(curve, now)) means.push_back(*mean);
    }
    const auto n = static_cast<int64_t>(means.size());
    if (n < options_.min_samples_required) return false;
    double best = own.front().value;
    for (const TimedValue& each : own) {
      if (IsBetter(each.value, best)) best = each.value;
    }
    if (!std::isfinite(best)) return true;
    std::sort(means.begin(), means.end(), [this](double a, double b) {
      return IsBetter(a, b);
    });
    const size_t middle = means.size() / 2;
    double median = means[middle];
    if (n % 2 == 0) median = (means[middle - 1] + means[middle]) / 2;
    if (mutant_ == RuleMutant::kTie && median == best) return true;
    return IsBetter(median, best);
  }

  std::optional<double> MeanUpTo(const std::vector<TimedValue>& curve,
                                 int64_t now) const {
    double mean = 0;
    double n = 0;
    bool finite = true;
    for (const TimedValue& each : curve) {
      const bool later = each.time > now && mutant_ != RuleMutant::kBackFill;
      if (each.time < options_.grace_period || later) continue;
      if (!std::isfinite(each.value) && mutant_ == RuleMutant::kNan) continue;
      finite = finite && std::isfinite(each.value);
      ++n;
      mean += each.value / n - mean / n;
    }
    if (n == 0) return std::nullopt;
    return finite ? mean : std::nan("");
  }
};

class PatienceReference final : public CurveReference {
 public:
  PatienceReference(const RuleTrace& trace, const SchedulerOptions& o, RuleMutant m)
      : CurveReference(trace, o, m, Decision::kConverged) {}

 private:
  bool Ends(int64_t trial) const override {
    const std::vector<TimedValue>& curve = curves_.at(trial);
    std::optional<double> best;
    int64_t since = curve.front().time;
    for (const TimedValue& each : curve) {
      const bool bad = !std::isfinite(each.value);
      if (bad && mutant_ == RuleMutant::kNan) since = each.time;
      if (bad) continue;
      if (best && !Improves(each.value, *best)) continue;
      best = each.value;
      since = each.time;
    }
    const int64_t now = curve.back().time;
    return now >= options_.grace_period && now - since >= options_.patience;
  }

  bool Improves(double value, double best) const {
    const double gain = goal_ == Goal::kMinimize ? best - value : value - best;
    if (mutant_ == RuleMutant::kTie) return gain >= options_.min_delta;
    return gain > options_.min_delta;
  }
};

class PlateauReference final : public CurveReference {
 public:
  PlateauReference(const RuleTrace& trace, const SchedulerOptions& o, RuleMutant m)
      : CurveReference(trace, o, m, Decision::kConverged) {}

 private:
  bool Ends(int64_t trial) const override {
    std::vector<double> values;
    for (const TimedValue& each : curves_.at(trial)) {
      if (std::isfinite(each.value) || mutant_ != RuleMutant::kNan) {
        values.push_back(each.value);
      }
    }
    const TimedValue& now = curves_.at(trial).back();
    if (std::ssize(values) < options_.num_results) return false;
    if (now.time < options_.grace_period) return false;
    if (options_.metric_threshold && IsBetter(*options_.metric_threshold, now.value)) {
      return false;
    }
    values.erase(values.begin(), values.end() - options_.num_results);
    double mean = 0, n = 0, squares = 0;
    for (const double value : values) {
      if (!std::isfinite(value)) return false;
      ++n;
      mean += value / n - mean / n;
    }
    for (const double value : values) squares += (value - mean) * (value - mean);
    const double deviation = std::sqrt(squares / n);
    return mutant_ == RuleMutant::kTie ? deviation <= options_.std
                                       : deviation < options_.std;
  }
};

class TargetReference final : public CurveReference {
 public:
  TargetReference(const RuleTrace& trace, const SchedulerOptions& o, RuleMutant m)
      : CurveReference(trace, o, m, Decision::kTarget) {}

 private:
  bool Ends(int64_t trial) const override {
    const double value = curves_.at(trial).back().value;
    if (!std::isfinite(value) && mutant_ == RuleMutant::kNan) {
      return goal_ == Goal::kMinimize ? value <= options_.target
                                      : value >= options_.target;
    }
    if (!std::isfinite(value)) return false;
    if (mutant_ == RuleMutant::kTie) return IsBetter(value, options_.target);
    return !IsBetter(options_.target, value);
  }
};

// ASHA, as a rule of `any`; asha_simulation_test.cc holds it to its rules alone.
class AshaReference final : public RuleReference {
 public:
  AshaReference(const RuleTrace& trace, const SchedulerOptions& o, RuleMutant m)
      : RuleReference(trace, o, m) {}

  RuleAnswer Handle(const RuleEvent& event) override {
    RuleAnswer answer;
    if (event.kind == RuleEvent::Kind::kObserved) return answer;
    const bool failed = event.kind == RuleEvent::Kind::kFailed;
    if (stopped_.contains(event.trial)) {
      if (!failed) answer.decision = Decision::kStop;
      return answer;
    }
    if (failed ? failed_.contains(event.trial) : event.value.missing()) return answer;
    const int bracket = BracketOf(options_, seed_, TrialId(event.trial));
    int rung = passed_[event.trial];
    for (;; ++rung) {
      const int64_t level = Level(bracket + rung);
      const bool reached = failed ? rung == passed_[event.trial] : level <= event.time;
      if (level >= options_.max_t || !reached) break;
      RungRow row;
      row.trial = TrialId(event.trial);
      row.bracket = bracket;
      row.rung = rung;
      row.level = level;
      row.value = failed ? Objective::Missing() : event.value;
      row.time = failed ? level : event.time;
      const int64_t next = Level(bracket + rung + 1);
      row.late = !failed && next < options_.max_t && next <= event.time;
      row.order = std::ssize(rows_);
      rows_.push_back(row);
      if (!failed && !row.late) rows_.back().stopped = MustStop(row);
      answer.entries.push_back(rows_.back());
    }
    passed_[event.trial] = rung;
    if (answer.entries.empty()) return answer;
    failed_.erase(event.trial);
    if (failed) failed_.insert(event.trial);
    if (!answer.entries.back().stopped) return answer;
    stopped_.insert(event.trial);
    answer.decision = Decision::kStop;
    return answer;
  }

 private:
  int64_t Level(int power) const {
    int64_t level = options_.grace_period;
    for (; power > 0; --power) level *= options_.reduction_factor;
    return level;
  }

  bool MustStop(const RungRow& own) const {
    if (own.time >= options_.max_t) return false;
    if (!own.value.finite()) return true;
    int64_t n = 0, better = 0;
    for (const RungRow& row : rows_) {
      if (row.bracket != own.bracket || row.rung != own.rung || row.late) continue;
      ++n;
      const double value = row.value.AsDouble();
      if (IsBetter(value, own.value.value)) ++better;
    }
    return better >= std::max<int64_t>(n / options_.reduction_factor, 1);
  }

  std::vector<RungRow> rows_;
  std::map<int64_t, int> passed_;
  std::set<int64_t> stopped_, failed_;
};

inline std::unique_ptr<RuleReference> MakeReference(const RuleTrace& trace,
                                                    const SchedulerOptions& options,
                                                    RuleMutant mutant);

// Several rules. Its mutants: a stop is said before a completion (kTie), a trial that
// never had a number is told to go on (kNan), curves end where their trials are told to
// end (kBackFill).
class AnyReference final : public RuleReference {
 public:
  AnyReference(const RuleTrace& trace, const SchedulerOptions& o, RuleMutant m)
      : RuleReference(trace, o, m) {
    for (const SchedulerOptions& rule : o.of) {
      const auto child = m == RuleMutant::kNan ? RuleMutant::kNan : RuleMutant::kNone;
      rules_.push_back(MakeReference(trace, rule, child));
      if (rule.kind == SchedulerKind::kAsha) max_t_ = rule.max_t;
    }
  }

  RuleAnswer Handle(const RuleEvent& event) override {
    const auto ended = ended_.find(event.trial);
    const bool over = ended != ended_.end();
    RuleAnswer answer;
    if (over && event.kind == RuleEvent::Kind::kFailed) return answer;
    int32_t brackets = 0;
    for (size_t i = 0; i < rules_.size(); ++i) {
      const bool asha = options_.of[i].kind == SchedulerKind::kAsha;
      RuleEvent told = event;
      const bool complete = max_t_ && event.time >= *max_t_ && !asha;
      if (event.kind == RuleEvent::Kind::kReport && (over || complete)) {
        told.kind = RuleEvent::Kind::kObserved;
      }
      if (over && mutant_ == RuleMutant::kBackFill) continue;
      const RuleAnswer own = rules_[i]->Handle(told);
      for (RungRow row : own.entries) {
        row.bracket += brackets;
        answer.entries.push_back(row);
      }
      brackets +=
          asha ? static_cast<int32_t>(BracketWeights(options_.of[i]).size()) : 1;
      if (Rank(own.decision) > Rank(answer.decision)) answer.decision = own.decision;
    }
    if (event.kind == RuleEvent::Kind::kReport && over) return {ended->second, {}};
    for (RungRow& row : answer.entries) {
      row.order = entries_++;
      row.stopped = row.stopped && answer.decision == Decision::kStop;
    }
    if (answer.decision != Decision::kContinue) ended_[event.trial] = answer.decision;
    return answer;
  }

 private:
  int Rank(Decision decision) const {
    if (decision == Decision::kContinue) return 0;
    if (decision == Decision::kStop) return mutant_ == RuleMutant::kTie ? 4 : 1;
    return decision == Decision::kConverged ? 2 : 3;
  }

  std::vector<std::unique_ptr<RuleReference>> rules_;
  std::optional<int64_t> max_t_;
  std::map<int64_t, Decision> ended_;
  int64_t entries_ = 0;
};

inline std::unique_ptr<RuleReference> MakeReference(const RuleTrace& trace,
                                                    const SchedulerOptions& options,
                                                    RuleMutant mutant) {
  switch (options.kind) {
    case SchedulerKind::kMedian:
      return std::make_unique<MedianReference>(trace, options, mutant);
    case SchedulerKind::kPatience:
      return std::make_unique<PatienceReference>(trace, options, mutant);
    case SchedulerKind::kPlateau:
      return std::make_unique<PlateauReference>(trace, options, mutant);
    case SchedulerKind::kTarget:
      return std::make_unique<TargetReference>(trace, options, mutant);
    case SchedulerKind::kAny:
      return std::make_unique<AnyReference>(trace, options, mutant);
    case SchedulerKind::kAsha:
    case SchedulerKind::kFifo:
    case SchedulerKind::kPbt:
      break;
  }
  return std::make_unique<AshaReference>(trace, options, mutant);
}

}  // namespace hyperopt::testing

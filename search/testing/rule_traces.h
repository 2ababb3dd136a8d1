// What happens in a sweep as its scheduler hears it, drawn at random, for tests of all
// schedulers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "search/scheduler.h"
#include "trial/rng.h"

namespace hyperopt::testing {

struct RuleEvent {
  enum class Kind { kReport, kObserved, kFailed };
  int64_t trial = 0;
  Kind kind = Kind::kReport;
  int64_t time = 0;
  Objective value;
};

struct RuleTrace {
  SchedulerOptions options;
  Goal goal = Goal::kMinimize;
  uint64_t seed = 0;
  std::vector<RuleEvent> events;
};

// What the scheduler says to one event.
struct RuleAnswer {
  Decision decision = Decision::kContinue;
  std::vector<RungRow> entries;
  bool operator==(const RuleAnswer&) const = default;
};

inline RuleAnswer Feed(Scheduler* scheduler, const RuleEvent& event) {
  const TrialId trial(event.trial);
  switch (event.kind) {
    case RuleEvent::Kind::kFailed:
      return {Decision::kContinue, scheduler->OnFailed(trial)};
    case RuleEvent::Kind::kObserved:
      scheduler->Observe(trial, event.time, event.value);
      return {};
    case RuleEvent::Kind::kReport:
      break;
  }
  Verdict verdict = scheduler->OnMeasurement(trial, event.time, event.value);
  return {verdict.decision, std::move(verdict.entries)};
}

inline Objective DrawRuleValue(Rng* rng) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const uint64_t kind = rng->Below(20);
  if (kind == 0) return Objective::Of(std::numeric_limits<double>::quiet_NaN());
  if (kind == 1) return Objective::Of(rng->Below(2) == 0 ? kInf : -kInf);
  if (kind == 2) return Objective::Missing();
  // Few different values, so that ties are common.
  if (kind < 15) return Objective::Of(static_cast<double>(rng->Below(4)) - 1);
  return Objective::Of(rng->Uniform());
}

// Events of a sweep: most times go on by one, some jump, some go back (a fresh
// attempt); some trials fail and are run again, some are stopped by a person.
inline std::vector<RuleEvent> DrawRuleEvents(Rng* rng) {
  std::vector<RuleEvent> events;
  const uint64_t trials = 1 + rng->Below(12);
  std::map<int64_t, int64_t> times;
  std::set<int64_t> stopped;
  for (uint64_t left = rng->Below(100); left > 0; --left) {
    RuleEvent event;
    event.trial = static_cast<int64_t>(rng->Below(trials));
    if (rng->Below(40) == 0) stopped.insert(event.trial);
    if (stopped.contains(event.trial)) event.kind = RuleEvent::Kind::kObserved;
    if (rng->Below(25) == 0) event.kind = RuleEvent::Kind::kFailed;
    int64_t& time = times[event.trial];
    const uint64_t step = rng->Below(12);
    if (step == 0) time -= static_cast<int64_t>(rng->Below(4));
    if (step > 1) time += 1 + static_cast<int64_t>(step > 9 ? rng->Below(6) : 0);
    event.time = time;
    event.value = DrawRuleValue(rng);
    events.push_back(event);
  }
  return events;
}

inline SchedulerOptions DrawRule(SchedulerKind kind, int64_t max_t, Rng* rng) {
  SchedulerOptions options;
  options.kind = kind;
  options.max_t = max_t;
  options.grace_period = 1 + static_cast<int64_t>(rng->Below(3));
  switch (kind) {
    case SchedulerKind::kAsha:
      options.reduction_factor = 2 + static_cast<int64_t>(rng->Below(3));
      options.brackets = 1 + static_cast<int64_t>(rng->Below(3));
      break;
    case SchedulerKind::kMedian:
      options.min_samples_required = 1 + static_cast<int64_t>(rng->Below(3));
      break;
    case SchedulerKind::kPatience:
      options.patience = 1 + static_cast<int64_t>(rng->Below(6));
      options.min_delta = rng->Below(2) == 0 ? 0 : 1;
      break;
    case SchedulerKind::kPlateau:
      options.num_results = 2 + static_cast<int64_t>(rng->Below(3));
      options.std = rng->Below(2) == 0 ? 0.5 : 0.25;
      if (rng->Below(3) == 0) options.metric_threshold = 0;
      break;
    case SchedulerKind::kTarget:
      options.target = static_cast<double>(rng->Below(4)) - 1.5;
      if (rng->Below(2) == 0) options.target += 0.5;
      break;
    case SchedulerKind::kAny:
      for (const SchedulerKind each : {SchedulerKind::kAsha,
                                       SchedulerKind::kMedian,
                                       SchedulerKind::kPatience,
                                       SchedulerKind::kPlateau,
                                       SchedulerKind::kTarget}) {
        if (rng->Below(2) == 0) options.of.push_back(DrawRule(each, max_t, rng));
      }
      if (options.of.empty()) {
        options.of.push_back(DrawRule(SchedulerKind::kMedian, max_t, rng));
      }
      break;
    case SchedulerKind::kFifo:
    case SchedulerKind::kPbt:
      break;
  }
  return options;
}

inline RuleTrace DrawRuleTrace(SchedulerKind kind, uint64_t number) {
  Rng rng(20261130, TrialId(static_cast<int64_t>(number)), "rule trace");
  RuleTrace trace;
  trace.options = DrawRule(kind, 4 + static_cast<int64_t>(rng.Below(20)), &rng);
  trace.goal = rng.Below(2) == 0 ? Goal::kMinimize : Goal::kMaximize;
  trace.seed = rng.Next();
  trace.events = DrawRuleEvents(&rng);
  return trace;
}

}  // namespace hyperopt::testing

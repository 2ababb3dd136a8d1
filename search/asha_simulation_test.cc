// Whole sweeps against a second reading of the rules.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "search/scheduler.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// One thing that happens in a sweep.
struct Happening {
  int64_t trial = 0;
  bool failure = false;
  int64_t time = 0;
  Objective value;
};

struct Trace {
  SchedulerOptions options;
  Goal goal = Goal::kMinimize;
  uint64_t seed = 0;
  std::vector<Happening> happenings;
};

Objective DrawValue(Rng* rng) {
  const uint64_t kind = rng->Below(20);
  if (kind == 0) return Objective::Of(kNan);
  if (kind == 1) return Objective::Of(rng->Below(2) == 0 ? kInf : -kInf);
  if (kind == 2) return Objective::Missing();
  // Few different values, so that ties are common.
  if (kind < 12) return Objective::Of(static_cast<double>(rng->Below(4)) - 1);
  return Objective::Of(rng->Uniform());
}

Trace DrawTrace(uint64_t number) {
  Rng rng(20240607, TrialId(static_cast<int64_t>(number)), "trace");
  Trace trace;
  trace.options.kind = SchedulerKind::kAsha;
  trace.options.grace_period = 1 + static_cast<int64_t>(rng.Below(3));
  trace.options.reduction_factor = 2 + static_cast<int64_t>(rng.Below(4));
  trace.options.max_t =
      trace.options.grace_period + static_cast<int64_t>(rng.Below(40));
  trace.options.brackets = 1 + static_cast<int64_t>(rng.Below(3));
  trace.goal = rng.Below(2) == 0 ? Goal::kMinimize : Goal::kMaximize;
  trace.seed = rng.Next();
  const uint64_t trials = 1 + rng.Below(20);
  std::map<int64_t, int64_t> times;
  for (uint64_t left = rng.Below(80); left > 0; --left) {
    Happening event;
    event.trial = static_cast<int64_t>(rng.Below(trials));
    event.failure = rng.Below(15) == 0;
    int64_t& time = times[event.trial];
    const uint64_t step = rng.Below(10);
    if (step == 0) time -= static_cast<int64_t>(rng.Below(4));  // a fresh attempt
    if (step > 0) time += 1 + static_cast<int64_t>(step > 7 ? rng.Below(12) : 0);
    event.time = time;
    event.value = DrawValue(&rng);
    trace.happenings.push_back(event);
  }
  return trace;
}

// Where a simulator departs from the rules, to show that the comparison sees it.
enum class Mutant { kNone, kTiesStop, kNanGoesOn, kBackFill };

// The rules of search/README.md, read once more and as plainly as can be: all entries
// in one list, everything counted anew for every report. Shares no code with the
// scheduler but the draw of a bracket.
class Simulator {
 public:
  Simulator(const Trace& trace, Mutant mutant) : trace_(trace), mutant_(mutant) {}

  std::pair<bool, std::vector<RungRow>> Handle(const Happening& event) {
    if (stopped_.contains(event.trial)) return {!event.failure, {}};
    if (event.failure) return {false, Fail(event.trial)};
    return Report(event);
  }

 private:
  std::vector<RungRow> Fail(int64_t trial) {
    const RungRow* newest = nullptr;
    for (const RungRow& row : entries_) {
      if (row.trial.value() == trial) newest = &row;
    }
    if (newest != nullptr && newest->value.missing()) return {};
    const std::vector<int64_t> levels = Levels(trial);
    for (size_t rung = 0; rung < levels.size(); ++rung) {
      if (Has(trial, rung)) continue;
      Enter(trial, rung, levels[rung], levels[rung], Objective::Missing());
      return {entries_.back()};
    }
    return {};
  }

  std::pair<bool, std::vector<RungRow>> Report(const Happening& event) {
    if (event.value.missing()) return {false, {}};
    const std::vector<int64_t> levels = Levels(event.trial);
    std::vector<size_t> reached;
    for (size_t rung = 0; rung < levels.size(); ++rung) {
      if (levels[rung] <= event.time && !Has(event.trial, rung))
        reached.push_back(rung);
    }
    std::vector<RungRow> rows;
    bool stop = false;
    for (const size_t rung : reached) {
      Enter(event.trial, rung, levels[rung], event.time, event.value);
      RungRow& row = entries_.back();
      if (rung != reached.back()) {
        row.late = mutant_ != Mutant::kBackFill;
      } else if (event.time < trace_.options.max_t) {
        row.stopped = stop = MustStop(row);
      }
      rows.push_back(row);
    }
    if (stop) stopped_.insert(event.trial);
    return {stop, rows};
  }

  bool MustStop(const RungRow& own) const {
    int64_t n = 0;
    int64_t better = 0;
    int64_t as_good = 0;
    for (const RungRow& row : entries_) {
      if (row.bracket != own.bracket || row.rung != own.rung || row.late) continue;
      ++n;
      if (IsBetter(row.value, own.value)) ++better;
      if (!IsBetter(row.value, own.value) && !IsBetter(own.value, row.value)) ++as_good;
    }
    const int64_t go_on = std::max<int64_t>(n / trace_.options.reduction_factor, 1);
    if (!own.value.finite() && mutant_ != Mutant::kNanGoesOn) return true;
    if (!own.value.finite()) return false;
    if (mutant_ == Mutant::kTiesStop) better += as_good - 1;  // without itself
    return better >= go_on;
  }

  bool IsBetter(const Objective& a, const Objective& b) const {
    if (a.finite() != b.finite()) return a.finite();
    if (!a.finite()) return false;
    return trace_.goal == Goal::kMinimize ? a.value < b.value : a.value > b.value;
  }

  int BracketOfTrial(int64_t trial) const {
    return BracketOf(trace_.options, trace_.seed, TrialId(trial));
  }

  std::vector<int64_t> Levels(int64_t trial) const {
    std::vector<int64_t> levels;
    int64_t level = trace_.options.grace_period;
    for (int k = 0; k < BracketOfTrial(trial); ++k) {
      level *= trace_.options.reduction_factor;
    }
    for (; level < trace_.options.max_t; level *= trace_.options.reduction_factor) {
      levels.push_back(level);
    }
    return levels;
  }

  bool Has(int64_t trial, size_t rung) const {
    for (const RungRow& row : entries_) {
      if (row.trial.value() == trial && row.rung == static_cast<int>(rung)) return true;
    }
    return false;
  }

  void Enter(
      int64_t trial, size_t rung, int64_t level, int64_t time, const Objective& value) {
    RungRow row;
    row.trial = TrialId(trial);
    row.bracket = BracketOfTrial(trial);
    row.rung = static_cast<int>(rung);
    row.level = level;
    row.time = time;
    row.value = value;
    row.order = static_cast<int64_t>(entries_.size());
    entries_.push_back(row);
  }

  const Trace& trace_;
  const Mutant mutant_;
  std::vector<RungRow> entries_;
  std::set<int64_t> stopped_;
};

bool Same(const RungRow& a, const RungRow& b) {
  return a.trial == b.trial && a.bracket == b.bracket && a.rung == b.rung &&
         a.level == b.level && a.value == b.value && a.time == b.time &&
         a.late == b.late && a.stopped == b.stopped && a.order == b.order;
}

bool SameRows(const std::vector<RungRow>& a, const std::vector<RungRow>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), Same);
}

std::pair<bool, std::vector<RungRow>> Feed(Scheduler* scheduler,
                                           const Happening& event) {
  const TrialId trial(event.trial);
  if (event.failure) return {false, scheduler->OnFailed(trial)};
  Verdict verdict = scheduler->OnMeasurement(trial, event.time, event.value);
  return {verdict.decision == Decision::kStop, std::move(verdict.entries)};
}

bool SameAnswer(const std::pair<bool, std::vector<RungRow>>& a,
                const std::pair<bool, std::vector<RungRow>>& b) {
  return a.first == b.first && SameRows(a.second, b.second);
}

bool Agree(const Trace& trace, Mutant mutant) {
  const auto scheduler = MakeScheduler(trace.options, trace.goal, trace.seed);
  Simulator simulator(trace, mutant);
  for (const Happening& event : trace.happenings) {
    if (!SameAnswer(simulator.Handle(event), Feed(scheduler.get(), event)))
      return false;
  }
  return true;
}

int Agreeing(int traces, Mutant mutant) {
  int agreeing = 0;
  for (int i = 0; i < traces; ++i) agreeing += Agree(DrawTrace(i), mutant) ? 1 : 0;
  return agreeing;
}

TEST_SUITE_BEGIN("asha simulation");

TEST_CASE("ten thousand sweeps go as the rules say") {
  CHECK(Agreeing(10'000, Mutant::kNone) == 10'000);
}

TEST_CASE("the comparison sees each departure from the rules") {
  CHECK(Agreeing(1'000, Mutant::kTiesStop) < 900);
  CHECK(Agreeing(1'000, Mutant::kNanGoesOn) < 900);
  CHECK(Agreeing(1'000, Mutant::kBackFill) < 900);
}

TEST_CASE("stopped after each event and restored, it decides the same") {
  for (int i = 0; i < 1'000; ++i) {
    const Trace trace = DrawTrace(1'000'000 + i);
    const auto undisturbed = MakeScheduler(trace.options, trace.goal, trace.seed);
    std::vector<RungRow> record;
    bool same = true;
    for (const Happening& event : trace.happenings) {
      const auto restored = MakeScheduler(trace.options, trace.goal, trace.seed);
      restored->Restore(record);
      const auto expected = Feed(undisturbed.get(), event);
      same = same && SameAnswer(expected, Feed(restored.get(), event));
      record.insert(record.end(), expected.second.begin(), expected.second.end());
    }
    CAPTURE(i);
    CHECK(same);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

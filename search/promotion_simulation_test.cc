// Promotion ASHA: whole sweeps against a second reading of the rules.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "search/scheduler.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

enum class What { kReport, kFailure, kEnd, kFreeSlot };

// One thing that happens in a sweep, or would where the trial is not in that state.
struct Happening {
  What what = What::kReport;
  int64_t trial = 0;
  int64_t step = 0;  // how far the report is beyond the last one
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

Trace DrawTrace(int64_t number) {
  Rng rng(20261130, TrialId(number), "trace");
  Trace trace;
  trace.options.kind = SchedulerKind::kAsha;
  trace.options.promotion = true;
  trace.options.grace_period = 1 + static_cast<int64_t>(rng.Below(3));
  trace.options.reduction_factor = 2 + static_cast<int64_t>(rng.Below(3));
  trace.options.max_t =
      trace.options.grace_period + static_cast<int64_t>(rng.Below(30));
  trace.options.brackets = 1 + static_cast<int64_t>(rng.Below(3));
  trace.goal = rng.Below(2) == 0 ? Goal::kMinimize : Goal::kMaximize;
  trace.seed = rng.Next();
  const uint64_t trials = 1 + rng.Below(20);
  for (uint64_t left = rng.Below(160); left > 0; --left) {
    Happening event;
    event.trial = static_cast<int64_t>(rng.Below(trials));
    const uint64_t what = rng.Below(12);
    event.what = what == 0  ? What::kFailure
                 : what < 4 ? What::kEnd
                 : what < 7 ? What::kFreeSlot
                            : What::kReport;
    const uint64_t jump = rng.Below(10);
    event.step = 1 + static_cast<int64_t>(jump > 7 ? rng.Below(12) : rng.Below(3));
    event.value = DrawValue(&rng);
    trace.happenings.push_back(event);
  }
  return trace;
}

// What a scheduler or the simulator says.
struct Answer {
  Decision decision = Decision::kContinue;
  std::vector<RungRow> entries;
  std::optional<TrialId> promoted;
};

// Where a simulator departs from the rules, to show that the comparison sees it.
enum class Mutant { kNone, kLaterFirst, kNanNotCounted, kPromotedTwice };

// The rules of search/README.md, read once more and as plainly as can be: all entries
// in one list, everything counted anew each time. Shares no code with the scheduler but
// the draw of a bracket.
class Simulator {
 public:
  Simulator(const Trace& trace, Mutant mutant) : trace_(trace), mutant_(mutant) {}

  Answer Report(int64_t trial, int64_t time, const Objective& value) {
    Answer answer;
    if (value.missing()) return answer;
    std::vector<size_t> reached;
    const std::vector<int64_t> levels = Levels(trial);
    for (size_t rung = 0; rung < levels.size(); ++rung) {
      if (levels[rung] <= time && !Has(trial, rung)) reached.push_back(rung);
    }
    for (const size_t rung : reached) {
      Enter(trial, rung, levels[rung], time, value);
      RungRow& row = entries_.back();
      row.late = rung != reached.back();
      if (!row.late && time < trace_.options.max_t) {
        row.stopped = !value.finite();
        answer.decision = row.stopped ? Decision::kStop : Decision::kPause;
      }
      answer.entries.push_back(row);
    }
    return answer;
  }

  Answer Fail(int64_t trial) {
    const RungRow* newest = Newest(trial);
    if (newest != nullptr && newest->value.missing()) return {};
    const std::vector<int64_t> levels = Levels(trial);
    for (size_t rung = 0; rung < levels.size(); ++rung) {
      if (Has(trial, rung)) continue;
      Enter(trial, rung, levels[rung], levels[rung], Objective::Missing());
      return {Decision::kContinue, {entries_.back()}, {}};
    }
    return {};
  }

  void Pause(int64_t trial) { waiting_.insert(trial); }
  void End(int64_t trial) { waiting_.erase(trial); }
  void GoOn(int64_t trial) {
    if (mutant_ != Mutant::kPromotedTwice) waiting_.erase(trial);
  }

  std::optional<TrialId> Next(bool more) const {
    std::vector<std::pair<int64_t, int>> rungs;  // minus the level, bracket
    for (const RungRow& row : entries_) rungs.emplace_back(-row.level, row.bracket);
    std::ranges::sort(rungs);
    for (const auto& [minus, bracket] : rungs) {
      if (const auto trial = NextOf(-minus, bracket, more)) return trial;
    }
    return std::nullopt;
  }

 private:
  std::optional<TrialId> NextOf(int64_t level, int bracket, bool more) const {
    std::vector<const RungRow*> rung;
    for (const RungRow& row : entries_) {
      if (row.level != level || row.bracket != bracket || row.late) continue;
      if (mutant_ == Mutant::kNanNotCounted && !row.value.finite()) continue;
      rung.push_back(&row);
    }
    std::ranges::sort(rung, [&](const RungRow* a, const RungRow* b) {
      if (IsBetter(a->value, b->value)) return true;
      if (IsBetter(b->value, a->value)) return false;
      return mutant_ == Mutant::kLaterFirst ? a->order > b->order : a->order < b->order;
    });
    size_t good = rung.size() / static_cast<size_t>(trace_.options.reduction_factor);
    if (good == 0 && rung.size() >= (more ? 2 : 1)) good = 1;
    for (size_t i = 0; i < good; ++i) {
      const int64_t trial = rung[i]->trial.value();
      if (waiting_.contains(trial) && Newest(trial) == rung[i]) return rung[i]->trial;
    }
    return std::nullopt;
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

  const RungRow* Newest(int64_t trial) const {
    const RungRow* newest = nullptr;
    for (const RungRow& row : entries_) {
      if (row.trial.value() == trial) newest = &row;
    }
    return newest;
  }

  bool Has(int64_t trial, size_t rung) const {
    return std::ranges::any_of(entries_, [&](const RungRow& row) {
      return row.trial.value() == trial && row.rung == static_cast<int>(rung);
    });
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
  std::set<int64_t> waiting_;
};

bool Same(const Answer& a, const Answer& b) {
  return a.decision == b.decision && a.entries == b.entries && a.promoted == b.promoted;
}

// The states of a sweep's trials, as the controller has them.
struct States {
  enum State { kRuns, kAtRung, kWaits, kEnded };
  std::map<int64_t, State> of;
  std::map<int64_t, int64_t> time;
};

// Does to the scheduler what happens; nullopt where it can not happen.
std::optional<Answer> Tell(const Happening& event, States* states, Scheduler* to) {
  States::State& state = states->of[event.trial];
  const TrialId trial(event.trial);
  Answer answer;
  switch (event.what) {
    case What::kReport: {
      if (state != States::kRuns) return std::nullopt;
      const int64_t time = states->time[event.trial] += event.step;
      Verdict verdict = to->OnMeasurement(trial, time, event.value);
      if (verdict.decision == Decision::kPause) state = States::kAtRung;
      if (verdict.decision == Decision::kStop || time >= *to->max_time()) {
        state = States::kEnded;
        to->OnEnded(trial);
      }
      answer.decision = verdict.decision;
      answer.entries = std::move(verdict.entries);
      return answer;
    }
    case What::kFailure:
      if (state != States::kRuns) return std::nullopt;
      answer.entries = to->OnFailed(trial);  // and it is run again
      return answer;
    case What::kEnd:
      if (state == States::kAtRung) {
        state = States::kWaits;
        to->OnPaused(trial);
      } else if (state == States::kWaits && event.step == 3) {
        state = States::kEnded;  // by hand
        to->OnEnded(trial);
      }
      return answer;
    case What::kFreeSlot:
      const std::optional<Promotion> next = to->NextPromotion(event.step < 3);
      if (!next) return answer;
      answer.promoted = next->trial;
      states->of[next->trial.value()] = States::kRuns;
      to->OnPromoted(next->trial);
      return answer;
  }
  return std::nullopt;
}

// What the simulator answers to the same.
Answer Expect(const Happening& event, const States& before, Simulator* simulator) {
  const auto state = before.of.find(event.trial);
  const States::State was = state == before.of.end() ? States::kRuns : state->second;
  Answer answer;
  switch (event.what) {
    case What::kReport: {
      const auto at = before.time.find(event.trial);
      const int64_t time = (at == before.time.end() ? 0 : at->second) + event.step;
      return simulator->Report(event.trial, time, event.value);
    }
    case What::kFailure:
      return simulator->Fail(event.trial);
    case What::kEnd:
      if (was == States::kAtRung) simulator->Pause(event.trial);
      if (was == States::kWaits && event.step == 3) simulator->End(event.trial);
      return answer;
    case What::kFreeSlot:
      answer.promoted = simulator->Next(event.step < 3);
      if (answer.promoted) simulator->GoOn(answer.promoted->value());
      return answer;
  }
  return answer;
}

bool Agree(const Trace& trace, Mutant mutant) {
  const auto scheduler = MakeScheduler(trace.options, trace.goal, trace.seed);
  Simulator simulator(trace, mutant);
  States states;
  for (const Happening& event : trace.happenings) {
    const States before = states;
    const std::optional<Answer> answer = Tell(event, &states, scheduler.get());
    if (answer && !Same(*answer, Expect(event, before, &simulator))) return false;
  }
  return true;
}

int Agreeing(int traces, Mutant mutant) {
  int agreeing = 0;
  for (int i = 0; i < traces; ++i) agreeing += Agree(DrawTrace(i), mutant) ? 1 : 0;
  return agreeing;
}

// The record's entries and states, in a scheduler of another life.
std::unique_ptr<Scheduler> Restored(const Trace& trace,
                                    const std::vector<RungRow>& record,
                                    const States& states) {
  auto restored = MakeScheduler(trace.options, trace.goal, trace.seed);
  restored->Restore(record);
  for (const auto& [trial, state] : states.of) {
    if (state == States::kWaits) restored->OnPaused(TrialId(trial));
    if (state == States::kEnded) restored->OnEnded(TrialId(trial));
  }
  return restored;
}

TEST_SUITE_BEGIN("promotion simulation");

TEST_CASE("ten thousand sweeps go as the rules say") {
  CHECK(Agreeing(10'000, Mutant::kNone) == 10'000);
}

TEST_CASE("the comparison sees each departure from the rules") {
  CHECK(Agreeing(1'000, Mutant::kLaterFirst) < 900);
  CHECK(Agreeing(1'000, Mutant::kNanNotCounted) < 900);
  CHECK(Agreeing(1'000, Mutant::kPromotedTwice) < 900);
}

TEST_CASE("stopped after each event and restored, it decides the same") {
  for (int i = 0; i < 1'000; ++i) {
    const Trace trace = DrawTrace(1'000'000 + i);
    const auto undisturbed = MakeScheduler(trace.options, trace.goal, trace.seed);
    std::vector<RungRow> record;
    States states;
    bool same = true;
    for (const Happening& event : trace.happenings) {
      const auto restored = Restored(trace, record, states);
      States copy = states;
      const auto expected = Tell(event, &states, undisturbed.get());
      const auto got = Tell(event, &copy, restored.get());
      same = same && expected.has_value() == got.has_value();
      if (!expected) continue;
      same = same && Same(*expected, *got);
      record.insert(record.end(), expected->entries.begin(), expected->entries.end());
    }
    CAPTURE(i);
    CHECK(same);
  }
}

TEST_CASE("a trial runs to its next rung, and at last to max_t") {
  SchedulerOptions options;
  options.kind = SchedulerKind::kAsha;
  options.promotion = true;
  options.max_t = 9;
  options.reduction_factor = 3;
  const auto asha = MakeScheduler(options, Goal::kMinimize, 1);
  for (int64_t id = 0; id < 2; ++id) {
    CHECK(asha->Budget(TrialId(id)) == 1);
    const Objective value = Objective::Of(static_cast<double>(id));
    CHECK(asha->OnMeasurement(TrialId(id), 1, value).decision == Decision::kPause);
    if (id == 0) CHECK_FALSE(asha->NextPromotion(true));  // alone at its rung
    asha->OnPaused(TrialId(id));
  }
  CHECK(asha->WaitsFor(TrialId(1)) ==
        "waits at 1 of 9: 1 better of 2 there, and the best 1 go on to 3");
  CHECK(asha->NextPromotion(true) == Promotion{TrialId(0), {}, 2});
  asha->OnPromoted(TrialId(0));
  CHECK(asha->WaitsFor(TrialId(0)).empty());
  CHECK_FALSE(asha->NextPromotion(true));
  CHECK(asha->Budget(TrialId(0)) == 3);
  CHECK(asha->OnMeasurement(TrialId(0), 2, Objective::Of(0)).decision ==
        Decision::kContinue);
  CHECK(asha->OnMeasurement(TrialId(0), 3, Objective::Of(0)).decision ==
        Decision::kPause);
  CHECK(asha->Budget(TrialId(0)) == 9);
  // Alone at its rung it goes on where nobody else will come.
  asha->OnPaused(TrialId(0));
  CHECK_FALSE(asha->NextPromotion(true));
  CHECK(asha->NextPromotion(false) == Promotion{TrialId(0), {}, 3});
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

// What holds for every scheduler, over drawn sweeps.
#include <doctest/doctest.h>

#include <set>
#include <tuple>

#include "search/testing/rule_traces.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

using testing::DrawRuleTrace;
using testing::Feed;
using testing::RuleAnswer;
using testing::RuleEvent;
using testing::RuleTrace;

constexpr SchedulerKind kKinds[] = {SchedulerKind::kFifo,
                                    SchedulerKind::kAsha,
                                    SchedulerKind::kMedian,
                                    SchedulerKind::kPatience,
                                    SchedulerKind::kPlateau,
                                    SchedulerKind::kTarget,
                                    SchedulerKind::kAny};
constexpr int kSweeps = 300;

std::unique_ptr<Scheduler> Make(const RuleTrace& trace) {
  return MakeScheduler(trace.options, trace.goal, trace.seed);
}

// Calls `look(trace, scheduler, event, answer)` for each event of many sweeps of each
// kind, after the scheduler has heard it.
template <typename Look>
void ForEachEvent(const Look& look) {
  for (const SchedulerKind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    for (int i = 0; i < kSweeps; ++i) {
      CAPTURE(i);
      const RuleTrace trace = DrawRuleTrace(kind, 1'000'000 + i);
      const auto scheduler = Make(trace);
      for (const RuleEvent& event : trace.events) {
        const RuleAnswer answer = Feed(scheduler.get(), event);
        look(trace, *scheduler, event, answer);
      }
    }
  }
}

// What a record holds.
struct Record {
  std::vector<RungRow> rungs;
  std::vector<RuleEvent> reports;
  std::set<int64_t> ended;  // told to end

  void Add(const RuleEvent& event, const RuleAnswer& answer) {
    rungs.insert(rungs.end(), answer.entries.begin(), answer.entries.end());
    if (event.kind != RuleEvent::Kind::kFailed) reports.push_back(event);
    if (answer.decision != Decision::kContinue) ended.insert(event.trial);
  }
};

std::unique_ptr<Scheduler> Restored(const RuleTrace& trace, const Record& record) {
  auto scheduler = Make(trace);
  scheduler->Restore(record.rungs);
  const CurvesNeeded needed = CurvesFor(trace.options);
  if (needed == CurvesNeeded::kNone) return scheduler;
  for (const RuleEvent& report : record.reports) {
    if (needed == CurvesNeeded::kOwn && record.ended.contains(report.trial)) continue;
    scheduler->Observe(TrialId(report.trial), report.time, report.value);
  }
  return scheduler;
}

TEST_SUITE_BEGIN("scheduler contract");

TEST_CASE("stopped after each event and restored, it decides the same") {
  for (const SchedulerKind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    for (int i = 0; i < kSweeps; ++i) {
      CAPTURE(i);
      const RuleTrace trace = DrawRuleTrace(kind, 2'000'000 + i);
      const auto undisturbed = Make(trace);
      Record record;
      bool same = true;
      for (const RuleEvent& event : trace.events) {
        const auto restored = Restored(trace, record);
        const RuleAnswer expected = Feed(undisturbed.get(), event);
        same = same && Feed(restored.get(), event) == expected;
        record.Add(event, expected);
      }
      CHECK(same);
    }
  }
}

TEST_CASE("an end is for ever, and makes no further entry") {
  std::map<int64_t, Decision> ended;
  int ends = 0;
  ForEachEvent([&](const RuleTrace& trace,
                   const Scheduler&,
                   const RuleEvent& event,
                   const RuleAnswer& answer) {
    if (&event == &trace.events.front()) ended.clear();
    const int64_t at = event.trial;
    if (event.kind != RuleEvent::Kind::kReport) {
      if (ended.contains(at)) CHECK(answer.entries.empty());
      return;
    }
    const auto found = ended.find(at);
    if (found != ended.end()) {
      CHECK(answer.decision == found->second);
      CHECK(answer.entries.empty());
    } else if (answer.decision != Decision::kContinue) {
      ended.emplace(at, answer.decision);
      ++ends;
    }
  });
  CHECK(ends > 1'000);
}

TEST_CASE("a repeated word changes nothing") {
  for (const SchedulerKind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    for (int i = 0; i < kSweeps; ++i) {
      CAPTURE(i);
      const RuleTrace trace = DrawRuleTrace(kind, 3'000'000 + i);
      const auto once = Make(trace);
      const auto twice = Make(trace);
      for (const RuleEvent& event : trace.events) {
        const RuleAnswer answer = Feed(once.get(), event);
        CHECK(Feed(twice.get(), event) == answer);
        const RuleAnswer again = Feed(twice.get(), event);
        CHECK(again.entries.empty());
        CHECK(again.decision == answer.decision);
      }
    }
  }
}

TEST_CASE("a report without the objective decides nothing") {
  ForEachEvent([&](const RuleTrace&,
                   const Scheduler&,
                   const RuleEvent& event,
                   const RuleAnswer& answer) {
    if (event.kind == RuleEvent::Kind::kReport && event.value.missing()) {
      CHECK(answer.entries.empty());
    }
  });
}

TEST_CASE("nobody is stopped at max_t") {
  int at_the_end = 0;
  ForEachEvent([&](const RuleTrace& trace,
                   const Scheduler& scheduler,
                   const RuleEvent& event,
                   const RuleAnswer& answer) {
    const std::optional<int64_t> max_t = scheduler.max_time();
    CHECK(max_t == MaxTime(trace.options));
    if (!max_t || event.time < *max_t) return;
    ++at_the_end;
    for (const RungRow& entry : answer.entries) CHECK_FALSE(entry.stopped);
  });
  CHECK(at_the_end > 100);
}

TEST_CASE("entries are one for each trial and rung, numbered as they come") {
  for (const SchedulerKind kind : kKinds) {
    for (int i = 0; i < kSweeps; ++i) {
      const RuleTrace trace = DrawRuleTrace(kind, 4'000'000 + i);
      const auto scheduler = Make(trace);
      std::set<std::tuple<int64_t, int32_t, int32_t>> keys;
      int64_t order = 0;
      for (const RuleEvent& event : trace.events) {
        for (const RungRow& entry : Feed(scheduler.get(), event).entries) {
          CHECK(entry.order == order++);
          CHECK(entry.trial == TrialId(event.trial));
          CHECK(keys.emplace(entry.trial.value(), entry.bracket, entry.rung).second);
        }
      }
    }
  }
}

TEST_CASE("entries of other options are refused") {
  for (const SchedulerKind kind : kKinds) {
    if (kind == SchedulerKind::kFifo) continue;
    CAPTURE(static_cast<int>(kind));
    int refused = 0;
    for (int i = 0; i < 50; ++i) {
      const RuleTrace trace = DrawRuleTrace(kind, 5'000'000 + i);
      const auto scheduler = Make(trace);
      Record record;
      for (const RuleEvent& event : trace.events) {
        record.Add(event, Feed(scheduler.get(), event));
      }
      if (record.rungs.empty()) continue;
      record.rungs.push_back(record.rungs.front());
      record.rungs.back().order = std::ssize(record.rungs);
      CHECK_THROWS_AS(Make(trace)->Restore(record.rungs), EnvironmentError);
      record.rungs.back().bracket += 100;
      CHECK_THROWS_AS(Make(trace)->Restore(record.rungs), EnvironmentError);
      ++refused;
    }
    CHECK(refused > 5);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

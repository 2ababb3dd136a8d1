// Whole sweeps under the rules that look at curves, against a second reading of them.
#include <doctest/doctest.h>

#include "search/testing/rule_references.h"

namespace hyperopt {
namespace {

using testing::DrawRuleTrace;
using testing::Feed;
using testing::MakeReference;
using testing::RuleEvent;
using testing::RuleMutant;
using testing::RuleTrace;

bool Agree(const RuleTrace& trace, RuleMutant mutant) {
  const auto scheduler = MakeScheduler(trace.options, trace.goal, trace.seed);
  const auto reference = MakeReference(trace, trace.options, mutant);
  for (const RuleEvent& event : trace.events) {
    if (!(reference->Handle(event) == Feed(scheduler.get(), event))) return false;
  }
  return true;
}

int Agreeing(SchedulerKind kind, int traces, RuleMutant mutant) {
  int agreeing = 0;
  for (int i = 0; i < traces; ++i) {
    agreeing += Agree(DrawRuleTrace(kind, i), mutant) ? 1 : 0;
  }
  return agreeing;
}

// In how many of the sweeps the rule ends a trial at all.
int Ending(SchedulerKind kind, int traces) {
  int ending = 0;
  for (int i = 0; i < traces; ++i) {
    const RuleTrace trace = DrawRuleTrace(kind, i);
    const auto scheduler = MakeScheduler(trace.options, trace.goal, trace.seed);
    bool ends = false;
    for (const RuleEvent& event : trace.events) {
      ends = Feed(scheduler.get(), event).decision != Decision::kContinue || ends;
    }
    ending += ends ? 1 : 0;
  }
  return ending;
}

void HoldToTheRules(SchedulerKind kind) {
  CHECK(Ending(kind, 1'000) > 400);
  CHECK(Agreeing(kind, 10'000, RuleMutant::kNone) == 10'000);
  CHECK(Agreeing(kind, 1'000, RuleMutant::kTie) < 900);
  CHECK(Agreeing(kind, 1'000, RuleMutant::kNan) < 980);
  CHECK(Agreeing(kind, 1'000, RuleMutant::kBackFill) < 980);
}

TEST_SUITE_BEGIN("rules simulation");

TEST_CASE("ten thousand sweeps go as median_stopping_rule says") {
  HoldToTheRules(SchedulerKind::kMedian);
}

TEST_CASE("ten thousand sweeps go as patience says") {
  HoldToTheRules(SchedulerKind::kPatience);
}

TEST_CASE("ten thousand sweeps go as plateau says") {
  HoldToTheRules(SchedulerKind::kPlateau);
}

TEST_CASE("ten thousand sweeps go as target says") {
  HoldToTheRules(SchedulerKind::kTarget);
}

TEST_CASE("ten thousand sweeps go as any of the rules says") {
  HoldToTheRules(SchedulerKind::kAny);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

// `verify` of sweeps whose scheduler looks at curves.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "search/commands/verify.h"
#include "search/testing/played_sweep.h"

namespace hyperopt {
namespace {

using testing::PlayedSweep;
using testing::ScriptedTrial;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string File(const std::string& scheduler) {
  return "command: [run, \"${args}\"]\n"
         "hyperopt:\n"
         "  metric: loss\n"
         "  parameters: {x: {space: uniform, lower: 0, upper: 1}}\n"
         "  search_alg: {type: random}\n"
         "  executor: {num_samples: 30, max_concurrent_trials: 4, scheduler: {" +
         scheduler + "}}\n";
}

constexpr const char* kMedian =
    "type: median_stopping_rule, time_attr: training_iteration, grace_period: 2";
constexpr const char* kAny =
    "type: any, of: [{type: asha, max_t: 9, reduction_factor: 3}, {type: median, "
    "grace_period: 2}, {type: patience, patience: 3, min_delta: 0.1}, {type: target, "
    "value: 0.2}]";

// Trial 3 fails, trial 5 is NaN at once, the others fall at their own speed.
ScriptedTrial Play(TrialId id, const Params&) {
  if (id == TrialId(3)) return {{}, 3, "broken\n"};
  if (id == TrialId(5)) return {{kNan, kNan}};
  ScriptedTrial trial;
  for (int step = 1; step <= 9; ++step) {
    trial.values.push_back(static_cast<double>((id.value() * 7) % 11) + 1.0 / step);
  }
  return trial;
}

std::vector<std::string> AfterTampering(
    const std::string& scheduler,
    const std::function<RecordChange(const RecordedSweep&)>& tamper) {
  PlayedSweep sweep(File(scheduler), Play);
  sweep.PlayToEnd();
  const std::vector<RecordChange> changes = {tamper(sweep.Record())};
  sweep.store().Commit(changes);
  return VerifySweep(sweep.Record());
}

void FindTampering(const std::string& scheduler) {
  SUBCASE("a verdict") {
    CHECK_FALSE(AfterTampering(scheduler, [](const RecordedSweep& sweep) {
                  RungRow row = sweep.record.rungs.back();
                  row.stopped = !row.stopped;
                  return PutRung{row};
                }).empty());
  }
  SUBCASE("an entry more") {
    CHECK_FALSE(AfterTampering(scheduler, [](const RecordedSweep& sweep) {
                  RungRow row = sweep.record.rungs.back();
                  row.rung += 1;
                  row.order += 1;
                  return PutRung{row};
                }).empty());
  }
  SUBCASE("a report more") {
    CHECK_FALSE(AfterTampering(scheduler, [](const RecordedSweep& sweep) {
                  ReportRow row = sweep.store->LoadReports(TrialId(8)).back();
                  row.offset += 5;
                  row.step += 1;
                  row.objective = Objective::Of(-7);
                  return AddReport{row};
                }).empty());
  }
  SUBCASE("an end that was not the scheduler's") {
    const auto lines = AfterTampering(scheduler, [](const RecordedSweep& sweep) {
      for (TrialRow row : sweep.record.trials) {
        if (row.state != TrialState::kCompleted) continue;
        row.state = TrialState::kStopped;
        row.reason = Reason::kPruned;
        return PutTrial{row};
      }
      FAIL("no trial was completed");
      return PutTrial{};
    });
    const bool told = std::ranges::any_of(lines, [](const std::string& line) {
      return line.find("recorded as ended by the scheduler") != line.npos;
    });
    CHECK(told);
  }
}

TEST_SUITE_BEGIN("verify rules");

TEST_CASE("a sweep that was left alone is as it must be") {
  for (const char* scheduler : {kMedian,
                                "type: patience, patience: 3, min_delta: 0.1",
                                "type: plateau, std: 0.05",
                                "type: target, value: 0.2",
                                kAny}) {
    CAPTURE(std::string(scheduler));
    PlayedSweep sweep(File(scheduler), Play);
    sweep.PlayToEnd();
    CHECK(sweep.Record().record.rungs.size() >= 2);
    CHECK(VerifySweep(sweep.Record()) == std::vector<std::string>{});
  }
}

TEST_CASE("every kind of tampering is found under median_stopping_rule") {
  FindTampering(kMedian);
}

TEST_CASE("every kind of tampering is found under any") { FindTampering(kAny); }

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

// What a decision of early stopping costs where 100,000 trials stand at the same time:
// each has reported up to there once, and then further ones do; and what is held in
// memory.
//   usage: asha_bench [trials]
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "search/scheduler.h"
#include "trial/rng.h"

namespace {

using Clock = std::chrono::steady_clock;
using Micros = std::chrono::duration<double, std::micro>;
using hyperopt::SchedulerKind;
using hyperopt::SchedulerOptions;

constexpr int64_t kMeasured = 10'000;

SchedulerOptions Rule(SchedulerKind kind) {
  SchedulerOptions rule;
  rule.kind = kind;
  rule.reduction_factor = 3;
  rule.max_t = 81;
  rule.patience = 3;
  return rule;
}

// Each trial reports at times 1 to `reports`; with `spread` above 0 at times that lie
// apart, as seconds do: up to so many in all.
void Measure(const char* name,
             const SchedulerOptions& options,
             int64_t trials,
             int64_t reports,
             uint64_t spread) {
  const size_t before = mallinfo2().uordblks;
  const auto scheduler = hyperopt::MakeScheduler(options, hyperopt::Goal::kMinimize, 1);
  hyperopt::Rng rng(1, hyperopt::TrialId(0), "asha_bench");
  std::vector<double> times;
  int64_t stopped = 0;
  const auto report = [&](int64_t trial, int64_t time) {
    const auto value = hyperopt::Objective::Of(rng.Uniform());
    const auto from = Clock::now();
    const hyperopt::Verdict verdict =
        scheduler->OnMeasurement(hyperopt::TrialId(trial), time, value);
    if (trial >= trials) times.push_back(Micros(Clock::now() - from).count());
    return verdict.decision != hyperopt::Decision::kContinue;
  };
  const auto run = [&](int64_t trial) {
    bool ended = false;
    int64_t time = 0;
    for (int64_t k = 0; k < reports; ++k) {
      time += spread == 0 ? 1 : 1 + static_cast<int64_t>(rng.Below(spread));
      // The first trials are told on when stopped, so that the columns are full.
      const bool ends = report(trial, time);
      if (ends && trial >= trials) {
        ended = true;
        break;
      }
    }
    stopped += ended ? 1 : 0;
  };

  const auto start = Clock::now();
  for (int64_t trial = 0; trial < trials; ++trial) run(trial);
  const Micros filling = Clock::now() - start;
  const size_t bytes = mallinfo2().uordblks - before;
  for (int64_t trial = trials; trial < trials + kMeasured; ++trial) run(trial);
  std::sort(times.begin(), times.end());
  fmt::print(
      "{:<24} {} x {} reports in {:.0f} ms, {:.2f} us each, {:.0f} bytes a trial; "
      "then {} decisions: median {:.2f} us, p99 {:.2f} us, {:.0f} % ended\n",
      name,
      trials,
      reports,
      filling.count() / 1e3,
      filling.count() / static_cast<double>(trials * reports),
      static_cast<double>(bytes) / static_cast<double>(trials),
      times.size(),
      times[times.size() / 2],
      times[times.size() * 99 / 100],
      100.0 * static_cast<double>(stopped) / kMeasured);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t trials = argc > 1 ? std::atoll(argv[1]) : 100'000;
  Measure("asha", Rule(SchedulerKind::kAsha), trials, 1, 0);
  Measure("median_stopping_rule", Rule(SchedulerKind::kMedian), trials, 1, 0);
  Measure("median_stopping_rule", Rule(SchedulerKind::kMedian), trials, 10, 0);
  Measure("patience", Rule(SchedulerKind::kPatience), trials, 10, 0);
  Measure("plateau", Rule(SchedulerKind::kPlateau), trials, 10, 0);
  Measure("target", Rule(SchedulerKind::kTarget), trials, 10, 0);
  SchedulerOptions any = Rule(SchedulerKind::kAny);
  for (const SchedulerKind kind : {SchedulerKind::kAsha,
                                   SchedulerKind::kMedian,
                                   SchedulerKind::kPatience,
                                   SchedulerKind::kPlateau}) {
    any.of.push_back(Rule(kind));
  }
  Measure("any of four", any, trials, 10, 0);
  // Times that hardly two trials share: seconds of an hour.
  Measure("median, in seconds",
          Rule(SchedulerKind::kMedian),
          std::min<int64_t>(trials, 2'000),
          10,
          720);
  return 0;
}

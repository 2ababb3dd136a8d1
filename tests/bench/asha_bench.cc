// What a decision of ASHA costs at a full rung: 100,000 trials that each report once at
// the lowest rung, and what the rungs hold in memory.
//   usage: asha_bench [trials]
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "search/scheduler.h"
#include "trial/rng.h"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const int64_t trials = argc > 1 ? std::atoll(argv[1]) : 100'000;
  constexpr int64_t kMeasured = 10'000;

  hyperopt::SchedulerOptions options;
  options.kind = hyperopt::SchedulerKind::kAsha;
  options.reduction_factor = 3;
  options.max_t = 81;
  const size_t before = mallinfo2().uordblks;
  const auto scheduler = hyperopt::MakeScheduler(options, hyperopt::Goal::kMinimize, 1);
  hyperopt::Rng rng(1, hyperopt::TrialId(0), "asha_bench");
  const auto report = [&](int64_t trial) {
    return scheduler->OnMeasurement(hyperopt::TrialId(trial),
                                    options.grace_period,
                                    hyperopt::Objective::Of(rng.Uniform()));
  };

  const auto start = Clock::now();
  for (int64_t trial = 0; trial < trials; ++trial) report(trial);
  const std::chrono::duration<double, std::micro> filling = Clock::now() - start;
  const size_t bytes = mallinfo2().uordblks - before;

  std::vector<double> times;
  int64_t stopped = 0;
  for (int64_t trial = trials; trial < trials + kMeasured; ++trial) {
    const auto from = Clock::now();
    const hyperopt::Verdict verdict = report(trial);
    const std::chrono::duration<double, std::micro> took = Clock::now() - from;
    times.push_back(took.count());
    stopped += verdict.decision == hyperopt::Decision::kStop ? 1 : 0;
  }
  std::sort(times.begin(), times.end());
  fmt::print("{} entries filled in {:.0f} ms, {:.3f} us each, {:.0f} bytes a trial\n",
             trials,
             filling.count() / 1e3,
             filling.count() / static_cast<double>(trials),
             static_cast<double>(bytes) / static_cast<double>(trials));
  fmt::print("then {} decisions: median {:.2f} us, p99 {:.2f} us, {:.0f} % stopped\n",
             kMeasured,
             times[times.size() / 2],
             times[times.size() * 99 / 100],
             100.0 * static_cast<double>(stopped) / kMeasured);
  return 0;
}

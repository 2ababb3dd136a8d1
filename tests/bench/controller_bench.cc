// The controller's state machine alone: 1,000 executors, 100,000 trials, no I/O. Prints
// seconds and memory a trial.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <set>

#include "search/controller.h"

namespace hyperopt {
namespace {

constexpr int kExecutors = 1000;
constexpr int64_t kTrials = 100'000;

SearchConfig BenchConfig() {
  SearchConfig config;
  config.metric = "loss";
  config.command = {"train"};
  config.space = SearchSpace({{"x", FloatDomain{0, 1, false, {}}}});
  config.sampler.num_samples = kTrials;
  return config;
}

long MemoryKiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void RunBench() {
  const SearchConfig config = BenchConfig();
  const auto sampler = MakeSampler(config.space, config.sampler);
  const auto scheduler = MakeScheduler(config.scheduler, config.goal, 1);
  ControllerStart start;
  start.record.sweep.id = "0123456789abcdef";
  Now now{Time(Seconds(1000)), 1000};
  Controller controller(config, *sampler, *scheduler, std::move(start), now);
  for (int i = 0; i < kExecutors; ++i) {
    Hello hello;
    hello.name = "node" + std::to_string(i);
    hello.host = "host";
    hello.pid = i + 1;
    hello.resources.cpus = Share::Whole(2);
    controller.Handle(PeerSaid{hello.name, hello}, now);
  }
  const long before = MemoryKiB();
  const auto began = std::chrono::steady_clock::now();
  std::deque<std::pair<std::string, Launch>> running;
  std::map<std::string, ExecutorId> ids;
  int64_t turns = 0;
  while (true) {
    const Turn turn = controller.TakeTurn(now);
    ++turns;
    for (const SendTo& to : turn.sends) {
      if (const auto* welcome = std::get_if<Welcome>(&to.message)) {
        ids[to.peer] = welcome->id;
      } else if (const auto* launch = std::get_if<Launch>(&to.message)) {
        running.emplace_back(to.peer, *launch);
      }
    }
    if (turn.end || running.empty()) break;
    now.steady += Seconds(0.001);
    const auto [peer, launch] = running.front();
    running.pop_front();
    Measured measured;
    measured.id = ids[peer];
    measured.key = launch.key;
    measured.upto.offset = 20;
    ReportLine line;
    line.end_offset = 20;
    line.values["loss"] = static_cast<double>(launch.key.trial.value() % 97);
    measured.lines = {line};
    controller.Handle(PeerSaid{peer, measured}, now);
    Exited exited;
    exited.id = ids[peer];
    exited.key = launch.key;
    exited.info.exit_code = 0;
    exited.offsets = {measured.upto};
    controller.Handle(PeerSaid{peer, exited}, now);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const SweepCounts counts = controller.Counts();
  printf(
      "%d executors, %lld trials completed in %lld turns: %.2f s, %.0f bytes a trial\n",
      kExecutors,
      static_cast<long long>(counts.completed),
      static_cast<long long>(turns),
      took.count(),
      static_cast<double>(MemoryKiB() - before) * 1024 / kTrials);
}

}  // namespace
}  // namespace hyperopt

int main() { hyperopt::RunBench(); }

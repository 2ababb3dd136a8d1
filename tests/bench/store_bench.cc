// What the record costs. Usage: store_bench FOLDER [TRIALS [LOAD_TRIALS]]
//
// FOLDER is where the databases are made, and so the disk that is measured: name one on
// tmpfs and one on a disk. Prints one line a figure; "CPU" is of this process alone.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trial/clock.h"
#include "trial/store.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

struct Spent {
  double wall = 0;
  double cpu = 0;
};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Spent Measure(const std::function<void()>& work) {
  const double cpu = CpuSeconds();
  const Time start = ReadClocks().steady;
  work();
  return {ToSeconds(ReadClocks().steady - start), CpuSeconds() - cpu};
}

SweepRow Sweep() {
  SweepRow row;
  row.id = "0123456789abcdef";
  row.name = "bench";
  row.metric = "loss";
  row.config = std::string(2000, 'c');
  row.resolved = std::string(4000, 'r');
  row.origin["diff"] = std::string(100'000, 'd');
  return row;
}

RunKey Key(int64_t trial) { return {TrialId(trial), RunId(0), Attempt(1)}; }

TrialRow Trial(int64_t id, TrialState state) {
  TrialRow row;
  row.id = TrialId(id);
  row.state = state;
  row.created = row.started = 1.7e9 + static_cast<double>(id);
  row.best = row.last = Objective::Of(1.0 / static_cast<double>(id + 1));
  row.best_step = row.last_step = 10;
  row.history = 3 * id;
  return row;
}

RunRow Run(int64_t trial, bool ended) {
  RunRow row;
  row.key = Key(trial);
  row.executor = ExecutorId(1);
  row.host = "localhost";
  row.devices = {"GPU-8f6d2c1a-0000-0000-0000-000000000000"};
  row.started = 1.7e9;
  if (!ended) return row;
  row.ended = 1.7e9 + 10;
  row.exit_code = 0;
  row.outcome = "exit";
  row.peak_memory = 123'456'789;
  return row;
}

AddReport Report(int64_t trial, int64_t step) {
  ReportRow row;
  row.key = Key(trial);
  row.offset = 48 * step;
  row.step = step;
  row.objective = Objective::Of(1.0 / static_cast<double>(step));
  row.values = R"({"loss":0.34567891,"accuracy":0.8765432})";
  row.wall = 1.7e9 + static_cast<double>(step);
  row.elapsed_s = static_cast<double>(step);
  return {row};
}

PutOffset Offset(int64_t trial, int64_t offset) {
  return {Key(trial), {SourceId(), 2049, 123'456, offset}};
}

AddEvent Event(int64_t number, int64_t trial) {
  return {{number, 1.7e9, "launched", TrialId(trial), R"({"attempt":1})"}};
}

Params FiveParams(int64_t trial) {
  const double x = 1.0 / static_cast<double>(trial + 3);
  return {{"batch_size", int64_t{64}},
          {"dropout", x},
          {"layers", trial % 6},
          {"learning_rate", x * x},
          {"optimizer", "adam"}};
}

using Changes = std::vector<RecordChange>;

// A turn that takes in the end of one trial, proposes the next and launches it.
Changes Turn(int64_t trial) {
  Changes changes;
  if (trial > 0) {
    changes.push_back(Report(trial - 1, 1));
    changes.push_back(Offset(trial - 1, 48));
    changes.push_back(PutRun{Run(trial - 1, true)});
    changes.push_back(PutTrial{Trial(trial - 1, TrialState::kCompleted)});
    changes.push_back(Event(2 * trial, trial - 1));
  }
  changes.push_back(PutTrial{Trial(trial, TrialState::kRunning)});
  changes.push_back(PutParams{TrialId(trial), FiveParams(trial)});
  changes.push_back(PutRun{Run(trial, false)});
  changes.push_back(Event(2 * trial + 1, trial));
  return changes;
}

std::unique_ptr<TrialStore> NewStore(const fs::path& path) {
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path.string() + suffix);
  auto store = OpenSqliteStore(path, StoreMode::kCreate);
  store->Commit(Changes{PutSweep{Sweep()}});
  return store;
}

void BenchTurns(const fs::path& path, int64_t trials) {
  std::unique_ptr<TrialStore> store;
  const Spent created = Measure([&] { store = NewStore(path); });
  fmt::print("create and first commit: {:.1f} ms\n", created.wall * 1e3);
  const Spent spent = Measure([&] {
    for (int64_t trial = 0; trial < trials; ++trial) store->Commit(Turn(trial));
  });
  const auto count = static_cast<double>(trials);
  fmt::print("one trial a commit: {:.0f} commits/s, {:.1f} us CPU a trial\n",
             count / spent.wall,
             spent.cpu / count * 1e6);
}

void BenchReports(const fs::path& path, int64_t batch) {
  constexpr int64_t kTrials = 64;
  constexpr int64_t kReports = 128'000;
  auto store = NewStore(path);
  for (int64_t trial = 0; trial < kTrials; ++trial) store->Commit(Turn(trial));
  const Spent spent = Measure([&] {
    Changes changes;
    for (int64_t i = 0; i < kReports; ++i) {
      const int64_t trial = i % kTrials;
      changes.push_back(Report(trial, 2 + i / kTrials));
      if (i % batch != batch - 1) continue;
      // Each trial that spoke in this turn: how far it was read, and its best so far.
      for (int64_t k = 0; k < std::min(batch, kTrials); ++k) {
        changes.push_back(Offset(k, 48 * (2 + i / kTrials)));
        changes.push_back(PutTrial{Trial(k, TrialState::kRunning)});
      }
      store->Commit(changes);
      changes.clear();
    }
    store->Commit(changes);
  });
  fmt::print("{} chatty trials, {} reports a commit: {:.0f} reports/s, {:.1f} us CPU\n",
             kTrials,
             batch,
             kReports / spent.wall,
             spent.cpu / kReports * 1e6);
}

void FillForLoad(const fs::path& path, int64_t trials) {
  auto store = NewStore(path);
  Changes changes;
  for (int64_t trial = 0; trial < trials; ++trial) {
    for (auto& change : Turn(trial)) changes.push_back(std::move(change));
    for (int64_t step = 2; step <= 10; ++step) changes.push_back(Report(trial, step));
    for (int32_t rung = 0; rung < 2; ++rung) {
      RungRow row{TrialId(trial), 0, rung};
      row.order = 2 * trial + rung;
      row.value = Objective::Of(0.5);
      changes.push_back(PutRung{row});
    }
    if (changes.size() > 2000 || trial + 1 == trials) {
      store->Commit(changes);
      changes.clear();
    }
  }
}

void BenchLoad(const fs::path& path, int64_t trials) {
  const Spent filled = Measure([&] { FillForLoad(path, trials); });
  fmt::print("filled with {} trials x 5 parameters x 10 reports in {:.1f} s, {} MiB\n",
             trials,
             filled.wall,
             fs::file_size(path) >> 20);
  std::unique_ptr<TrialStore> store;
  const Spent opened =
      Measure([&] { store = OpenSqliteStore(path, StoreMode::kOpen); });
  fmt::print("open: {:.1f} ms\n", opened.wall * 1e3);
  std::vector<TrialId> ids;
  const Spent loaded = Measure([&] {
    const auto snapshot = store->Load();
    for (const TrialRow& row : snapshot->trials) ids.push_back(row.id);
  });
  fmt::print(
      "load {} trials and 2 rungs each: {:.0f} ms\n", ids.size(), loaded.wall * 1e3);
  const Spent params = Measure([&] { store->LoadParams(ids); });
  fmt::print("all parameters: {:.0f} ms\n", params.wall * 1e3);
  const Spent reports = Measure([&] {
    for (const TrialId id : ids) store->LoadReports(id);
  });
  fmt::print("all reports: {:.0f} ms\n", reports.wall * 1e3);
}

}  // namespace
}  // namespace hyperopt

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: store_bench FOLDER [TRIALS [LOAD_TRIALS]]\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const int64_t trials = argc > 2 ? std::atoll(argv[2]) : 10'000;
  const int64_t load_trials = argc > 3 ? std::atoll(argv[3]) : 100'000;
  hyperopt::BenchTurns(folder / "bench_turns.db", trials);
  for (const int64_t batch : {1, 16, 64, 256, 1000}) {
    hyperopt::BenchReports(folder / "bench_reports.db", batch);
  }
  hyperopt::BenchLoad(folder / "bench_load.db", load_trials);
}

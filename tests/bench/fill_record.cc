// Makes the record of a sweep that has finished long ago, for what is measured of its
// resumption. Usage: fill_record SEARCH.yaml FOLDER TRIALS REPORTS
//
// The sweep is the search file's, its parameters are what the sampler proposes, and
// every trial has completed after REPORTS reports; with a scheduler each has an entry
// in its lowest rung. Run `hyperopt resume FOLDER --trials +1` after it.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "samplers/sampler.h"
#include "search/config.h"
#include "search/record_start.h"
#include "search/sweep_folder.h"

namespace hyperopt {
namespace {

constexpr WallTime kBegan = 1.7e9;
constexpr size_t kChangesACommit = 20'000;

class Filler {
 public:
  Filler(const SearchConfig& config, TrialStore* store, int64_t reports)
      : config_(config),
        store_(store),
        reports_(reports),
        sampler_(MakeSampler(config.space, config.sampler)) {}

  void AddTrial(TrialId id) {
    RunRow run;
    run.key = {id, RunId(0), Attempt(1)};
    run.executor = ExecutorId(1);
    run.host = "localhost";
    run.started = kBegan + static_cast<double>(id.value());
    run.ended = run.started + 10;
    run.exit_code = 0;
    run.outcome = "exit";
    run.peak_memory = 12'345'678;
    run.placement = R"({"cpus":1000000,"memory":0,"ranks":[]})";
    AddRow(id, run);
    changes_.push_back(PutParams{id, sampler_->Suggest(id, {}).value()});
    changes_.push_back(PutRun{run});
    for (int64_t step = 1; step <= reports_; ++step) AddReportOf(run.key, step);
    if (config_.scheduler.kind != SchedulerKind::kFifo) AddRung(id);
    AddEventOf("launched", id, R"({"attempt":1,"executor":1})");
    AddEventOf("ended", id, R"({"attempt":1,"state":"completed","reason":"none"})");
    if (changes_.size() > kChangesACommit) Commit();
  }

  void Commit() {
    store_->Commit(changes_);
    changes_.clear();
  }

 private:
  Objective ValueAt(TrialId id, int64_t step) const {
    const auto place = static_cast<double>(id.value() * 7919 % 100'003);
    return Objective::Of(place + 1.0 / static_cast<double>(step));
  }

  void AddRow(TrialId id, const RunRow& run) {
    TrialRow row;
    row.id = id;
    row.state = TrialState::kCompleted;
    row.attempt = run.key.attempt;
    row.best = row.last = ValueAt(id, reports_);
    row.best_step = row.last_step = row.reports = reports_;
    row.elapsed_s = run.ended - run.started;
    row.created = row.started = run.started;
    row.ended = run.ended;
    row.history = event_;
    changes_.push_back(PutTrial{row});
  }

  void AddReportOf(const RunKey& key, int64_t step) {
    ReportRow row;
    row.key = key;
    row.offset = 48 * step;
    row.step = step;
    row.objective = ValueAt(key.trial, step);
    row.values =
        fmt::format("{{\"{}\":{},\"accuracy\":0.8765432}}", config_.metric, step);
    row.wall = kBegan + static_cast<double>(step);
    row.elapsed_s = static_cast<double>(step);
    changes_.push_back(AddReport{row});
  }

  void AddRung(TrialId id) {
    RungRow row;
    row.trial = id;
    row.level = row.time = 1;
    row.value = ValueAt(id, 1);
    row.order = id.value();
    changes_.push_back(PutRung{row});
  }

  void AddEventOf(const char* kind, TrialId id, const char* detail) {
    changes_.push_back(AddEvent{{++event_, kBegan, kind, id, detail}});
  }

  const SearchConfig& config_;
  TrialStore* store_;
  int64_t reports_;
  std::unique_ptr<Sampler> sampler_;
  std::vector<RecordChange> changes_;
  int64_t event_ = 0;
};

int Fill(const std::filesystem::path& file,
         const std::filesystem::path& dir,
         int64_t trials,
         int64_t reports) {
  SearchConfig config = LoadConfig(file, {}, std::nullopt);
  SweepFolder folder = SweepFolder::Take(dir);
  OpenedRecord record = OpenRecord(&folder, &config, OldRecord::kStartOver);
  Filler filler(config, record.store.get(), reports);
  for (int64_t id = 0; id < trials; ++id) filler.AddTrial(TrialId(id));
  filler.Commit();
  SweepRow sweep = record.store->Load()->sweep;
  sweep.state = SweepState::kFinished;
  const std::vector<RecordChange> last = {PutSweep{sweep}};
  record.store->Commit(last);
  return 0;
}

}  // namespace
}  // namespace hyperopt

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: fill_record SEARCH.yaml FOLDER TRIALS REPORTS\n");
    return 2;
  }
  return hyperopt::Fill(argv[1], argv[2], std::atoll(argv[3]), std::atoll(argv[4]));
}

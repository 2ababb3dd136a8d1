// One contract, held against every store.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "trial/errors.h"
#include "trial/store.h"
#include "trial/testing/faulty_store.h"
#include "trial/testing/sample_record.h"
#include "trial/testing/store_folder.h"

namespace hyperopt {
namespace {

using Changes = std::vector<RecordChange>;

// A kind of store; `Reopen` gives what another process would see of it.
struct Memory {
  std::unique_ptr<TrialStore> store = NewMemoryStore();
  void Reopen() {}
};

struct Sqlite {
  StoreFolder folder;
  std::unique_ptr<TrialStore> store =
      OpenSqliteStore(folder.path() / "sweep.db", StoreMode::kCreate);
  void Reopen() {
    store.reset();
    store = OpenSqliteStore(folder.path() / "sweep.db", StoreMode::kOpen);
  }
};

struct Faulty {
  std::unique_ptr<TrialStore> store =
      std::make_unique<FaultyStore>(NewMemoryStore(), Faults());
  void Reopen() {}
};

std::vector<EventRow> Events(const TrialStore& store, int64_t first) {
  std::vector<EventRow> events;
  store.ForEachEvent(first, [&](const EventRow& event) {
    events.push_back(event);
    return true;
  });
  return events;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_SUITE_BEGIN("store contract");

TEST_CASE_TEMPLATE("a new store holds nothing", Kind, Memory, Sqlite, Faulty) {
  Kind kind;
  CHECK_FALSE(kind.store->Load().has_value());
  kind.Reopen();
  CHECK_FALSE(kind.store->Load().has_value());
  CHECK(kind.store->LoadRuns(TrialId(0)).empty());
  CHECK(kind.store->LoadReports(TrialId(0)).empty());
  CHECK(Events(*kind.store, 0).empty());
  CHECK(kind.store->notes().empty());
}

TEST_CASE_TEMPLATE("kept files, by attempt and name", Kind, Memory, Sqlite, Faulty) {
  Kind kind;
  const FileRow out{SampleKey(0), "stdout.log", 5, std::string("a\0\xff", 3)};
  const FileRow err{SampleKey(0), "stderr.log", 0, ""};
  const FileRow second{SampleKey(0, 2), "stderr.log", 1, "x"};
  kind.store->Commit(SampleChanges());
  kind.store->Commit(Changes{PutFile{second}, PutFile{out}, PutFile{err}});
  kind.store->Commit(Changes{PutFile{out}});
  kind.Reopen();
  CHECK(kind.store->LoadFiles(TrialId(0)) == std::vector{err, out, second});
  CHECK(kind.store->LoadFiles(TrialId(1)).empty());
}

TEST_CASE_TEMPLATE("Load gives what was put", Kind, Memory, Sqlite, Faulty) {
  Kind kind;
  kind.store->Commit(SampleChanges());
  kind.Reopen();
  const auto snapshot = kind.store->Load();
  REQUIRE(snapshot.has_value());
  SweepRow sweep = SampleSweep();
  sweep.last_event = 1;
  CHECK(snapshot->sweep == sweep);
  CHECK(snapshot->trials == std::vector{SampleTrial(0), SampleTrial(1)});
  CHECK(snapshot->open_runs == std::vector{SampleRun(0)});
  REQUIRE(snapshot->offsets.count(SampleKey(0)) == 1);
  CHECK(snapshot->offsets.at(SampleKey(0)) ==
        std::vector<SourceOffset>{{SourceId(), 2049, 77, 10}});
  CHECK(snapshot->rungs ==
        std::vector<RungRow>{
            {TrialId(0), 0, 0, 1, Objective::Of(0.5), 1, false, false, 1}});
  CHECK(snapshot->executors == std::vector{SampleExecutor(1)});
  CHECK(kind.store->LoadReports(TrialId(0)) == std::vector{SampleReport(0, 10, 0.5)});
  CHECK(Events(*kind.store, 1) == std::vector{SampleEvent(1)});
  const std::vector<TrialId> ids = {TrialId(1), TrialId(0), TrialId(7)};
  CHECK(kind.store->LoadParams(ids) ==
        std::vector<Params>{{{"lr", 0.01}, {"layers", int64_t{1}}},
                            {{"lr", 0.001}, {"layers", int64_t{3}}},
                            {}});
}

TEST_CASE_TEMPLATE(
    "a batch applied twice changes nothing", Kind, Memory, Sqlite, Faulty) {
  Kind kind;
  kind.store->Commit(SampleChanges());
  const auto once = kind.store->Load();
  kind.store->Commit(SampleChanges());
  kind.Reopen();
  CHECK(kind.store->Load() == once);
  CHECK(kind.store->LoadReports(TrialId(0)).size() == 1);
  CHECK(kind.store->LoadRuns(TrialId(0)).size() == 1);
  CHECK(Events(*kind.store, 0).size() == 1);
}

TEST_CASE_TEMPLATE(
    "a row put again replaces all of the old one", Kind, Memory, Sqlite, Faulty) {
  Kind kind;
  kind.store->Commit(SampleChanges());
  TrialRow trial = SampleTrial(0);
  trial.state = TrialState::kFailed;
  trial.reason = Reason::kHostMemory;
  trial.detail = "exit code 137";
  trial.attempt = Attempt(2);
  trial.failures = 1;
  trial.lost = 2;
  trial.stopping = Reason::kBudget;
  trial.best = Objective::Of(0.75);
  trial.best_step = 3;
  trial.last = Objective::Of(-kInfinity);
  trial.last_step = 4;
  trial.reports = 5;
  trial.elapsed_s = 6.5;
  trial.started = 1700000002.5;
  trial.ended = 1700000009.5;
  trial.parent = TrialId(1);
  RunRow run = SampleRun(0);
  run.ended = 1700000009.5;
  run.exit_code = 137;
  run.outcome = "exit";
  run.peak_memory = INT64_MAX;
  run.placement = R"({"cpus":2})";
  run.checkpoints = {1, 3, INT64_MAX};
  run.resume_from = "checkpoints/3";
  ExecutorRow executor = SampleExecutor(1);
  executor.left = 1700000010.0;
  SweepRow sweep = SampleSweep();
  sweep.state = SweepState::kInterrupted;
  sweep.settings.erase("metric");
  sweep.origin["diff"] = "+ new\n";
  sweep.last_event = 9;
  RungRow rung{TrialId(0), 0, 0, 1, Objective::Of(0.25), 2, true, true, 7};
  kind.store->Commit(Changes{PutTrial{trial},
                             PutRun{run},
                             PutExecutor{executor},
                             PutSweep{sweep},
                             PutRung{rung}});
  kind.Reopen();
  const auto snapshot = kind.store->Load();
  CHECK(snapshot->trials.at(0) == trial);
  CHECK(snapshot->open_runs.empty());
  CHECK(snapshot->offsets.empty());
  CHECK(kind.store->LoadRuns(TrialId(0)) == std::vector{run});
  CHECK(snapshot->executors == std::vector{executor});
  CHECK(snapshot->sweep == sweep);
  CHECK(snapshot->rungs == std::vector{rung});
}

TEST_CASE_TEMPLATE("a stop for no reason is not the absence of a stop",
                   Kind,
                   Memory,
                   Sqlite) {
  Kind kind;
  TrialRow trial = SampleTrial(0);
  trial.stopping = Reason::kNone;
  kind.store->Commit(Changes{PutSweep{SampleSweep()}, PutTrial{trial}});
  kind.Reopen();
  CHECK(kind.store->Load()->trials == std::vector{trial});
}

TEST_CASE_TEMPLATE("the sweep's row may be put without its texts changing",
                   Kind,
                   Memory,
                   Sqlite) {
  Kind kind;
  SweepRow sweep = SampleSweep();
  kind.store->Commit(Changes{PutSweep{sweep}});
  for (int i = 0; i < 3; ++i) {
    sweep.alive_s += 1;
    kind.store->Commit(Changes{PutSweep{sweep}});
  }
  kind.Reopen();
  CHECK(kind.store->Load()->sweep == sweep);
  sweep.config = "other";
  kind.store->Commit(Changes{PutSweep{sweep}});
  kind.Reopen();
  CHECK(kind.store->Load()->sweep == sweep);
}

TEST_CASE_TEMPLATE("a report's key counts once, also in a later commit",
                   Kind,
                   Memory,
                   Sqlite,
                   Faulty) {
  Kind kind;
  Changes changes = SampleChanges();
  changes.push_back(AddReport{SampleReport(0, 10, 0.9)});
  kind.store->Commit(changes);
  kind.Reopen();
  kind.store->Commit(Changes{AddReport{SampleReport(0, 10, 0.7)}});
  CHECK(kind.store->LoadReports(TrialId(0)) == std::vector{SampleReport(0, 10, 0.5)});

  // Each part of the key makes another report.
  std::vector<ReportRow> others(4, SampleReport(0, 10, 0.1));
  others[0].key.run = RunId(1);
  others[1].key.attempt = Attempt(2);
  others[2].source.name = "output";
  others[3].source.generation = 1;
  for (const ReportRow& row : others) kind.store->Commit(Changes{AddReport{row}});
  others.insert(others.begin(), SampleReport(0, 10, 0.5));
  CHECK(kind.store->LoadReports(TrialId(0)) == others);
}

TEST_CASE_TEMPLATE("reports keep the order of their commit", Kind, Memory, Sqlite) {
  Kind kind;
  kind.store->Commit(SampleChanges());
  ReportRow early = SampleReport(0, 5, 0.1);
  early.source.name = "a";
  const ReportRow late = SampleReport(0, 400, 0.2);
  const ReportRow middle = SampleReport(0, 200, 0.3);
  kind.store->Commit(Changes{AddReport{late}, AddReport{SampleReport(1, 1, 0)}});
  kind.store->Commit(Changes{AddReport{middle}, AddReport{early}});
  kind.Reopen();
  CHECK(kind.store->LoadReports(TrialId(0)) ==
        std::vector{SampleReport(0, 10, 0.5), late, middle, early});
  CHECK(kind.store->LoadReports(TrialId(1)).size() == 1);
  std::vector<ReportRow> all;
  kind.store->ForEachReport([&](const ReportRow& row) {
    all.push_back(row);
    return all.size() < 4;
  });
  const std::vector<ReportRow> expected = {
      SampleReport(0, 10, 0.5), late, SampleReport(1, 1, 0), middle};
  REQUIRE(all.size() == expected.size());
  for (size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].key == expected[i].key);
    CHECK(all[i].step == expected[i].step);
    CHECK(all[i].objective == expected[i].objective);
    CHECK(all[i].values == expected[i].values);
    CHECK(all[i].elapsed_s == expected[i].elapsed_s);
  }
}

TEST_CASE_TEMPLATE("rungs come by order, runs by key, events by number",
                   Kind,
                   Memory,
                   Sqlite) {
  Kind kind;
  Changes changes = SampleChanges();
  changes.push_back(PutRung{{TrialId(1), 0, 0, 1, Objective::Of(1), 1, 0, 0, 3}});
  changes.push_back(PutRung{{TrialId(0), 0, 1, 3, Objective::Of(1), 3, 0, 0, 2}});
  changes.push_back(PutRun{SampleRun(0, 3)});
  changes.push_back(PutRun{SampleRun(0, 2)});
  for (int64_t number = 5; number > 1; --number) {
    changes.push_back(AddEvent{SampleEvent(number)});
  }
  kind.store->Commit(changes);
  kind.Reopen();
  const auto snapshot = kind.store->Load();
  REQUIRE(snapshot->rungs.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(snapshot->rungs[i].order == static_cast<int64_t>(i) + 1);
  }
  CHECK(kind.store->LoadRuns(TrialId(0)) ==
        std::vector{SampleRun(0, 1), SampleRun(0, 2), SampleRun(0, 3)});
  CHECK(snapshot->sweep.last_event == 5);
  const auto events = Events(*kind.store, 3);
  REQUIRE(events.size() == 3);
  CHECK(events.front().number == 3);
  CHECK(events.back().number == 5);
  int visits = 0;
  kind.store->ForEachEvent(1, [&](const EventRow&) { return ++visits < 2; });
  CHECK(visits == 2);
}

TEST_CASE_TEMPLATE("every number survives", Kind, Memory, Sqlite) {
  Kind kind;
  const std::vector<double> numbers = {std::nan(""),
                                       kInfinity,
                                       -kInfinity,
                                       5e-324,
                                       -2.2250738585072009e-308,
                                       9007199254740993.0,
                                       0.1,
                                       1.7976931348623157e308,
                                       -0.0};
  Changes changes = {PutSweep{SampleSweep()}, PutTrial{SampleTrial(0)}};
  std::vector<ReportRow> rows;
  for (const double number : numbers) {
    ReportRow row = SampleReport(0, static_cast<int64_t>(rows.size()) + 1, number);
    row.values = "{\"loss\":" + DoubleToText(number) + "}";
    rows.push_back(row);
    changes.push_back(AddReport{row});
  }
  ReportRow missing = SampleReport(0, INT64_MAX, 0);
  missing.objective = Objective::Missing();
  missing.step = INT64_MIN;
  rows.push_back(missing);
  changes.push_back(AddReport{missing});
  SourceOffset offset{SourceId{"report", INT32_MAX}, UINT64_MAX, UINT64_MAX, INT64_MAX};
  changes.push_back(PutRun{SampleRun(0)});
  changes.push_back(PutOffset{SampleKey(0), offset});
  kind.store->Commit(changes);
  kind.Reopen();
  CHECK(kind.store->LoadReports(TrialId(0)) == rows);
  CHECK(kind.store->Load()->offsets.at(SampleKey(0)) == std::vector{offset});
}

TEST_CASE_TEMPLATE("every parameter keeps its type and value", Kind, Memory, Sqlite) {
  Kind kind;
  const Params params = {{"", ""},
                         {"big", int64_t{9007199254740993}},
                         {"bool", true},
                         {"denormal", 5e-324},
                         {"float", 1.0},
                         {"int", int64_t{1}},
                         {"list", Structured{"[1,\"a\",{\"b\":null}]"}},
                         {"max", INT64_MAX},
                         {"min", INT64_MIN},
                         {"nothing", std::monostate()},
                         {"nul", std::string("a\0b", 3)},
                         {"quote'\"\\", "it's \"so\" \\ \n"},
                         {"text", "1"},
                         {"zero", -0.0},
                         {"ünï", "日本 ✓"}};
  kind.store->Commit(Changes{PutSweep{SampleSweep()},
                             PutTrial{SampleTrial(0)},
                             PutParams{TrialId(0), params}});
  kind.Reopen();
  const std::vector<TrialId> ids = {TrialId(0)};
  const auto loaded = kind.store->LoadParams(ids);
  REQUIRE(loaded.size() == 1);
  CHECK(loaded[0] == params);
  CHECK(std::signbit(std::get<double>(loaded[0].at("zero"))));
}

TEST_CASE_TEMPLATE(
    "parameters come in the order asked, whatever is asked twice, far apart or unknown",
    Kind,
    Memory,
    Sqlite) {
  Kind kind;
  constexpr int64_t kTrials = 40;
  Changes changes = {PutSweep{SampleSweep()}};
  for (int64_t i = 0; i < kTrials; ++i) {
    changes.push_back(PutTrial{SampleTrial(i)});
    // Some have none, as in a space whose parameters all have values by default.
    if (i % 7 != 3) changes.push_back(PutParams{TrialId(i), {{"a", i}, {"b", -i}}});
  }
  kind.store->Commit(changes);
  kind.Reopen();
  const std::vector<std::vector<int64_t>> questions = {
      {}, {5}, {39, 0}, {3, 2, 1, 0}, {4, 2, 4, 3, 2, 5, 3, 4}, {38, 39, 40, 41, 50}};
  for (const std::vector<int64_t>& question : questions) {
    CAPTURE(question.size());
    std::vector<TrialId> ids;
    std::vector<Params> expected;
    for (const int64_t i : question) {
      ids.emplace_back(i);
      const bool has = i < kTrials && i % 7 != 3;
      expected.push_back(has ? Params{{"a", i}, {"b", -i}} : Params());
    }
    CHECK(kind.store->LoadParams(ids) == expected);
  }
}

TEST_CASE_TEMPLATE("text is kept byte for byte", Kind, Memory, Sqlite) {
  Kind kind;
  const std::vector<std::string> texts = {"",
                                          "日本 ✓ ünï",
                                          "\xff\xfe not UTF-8 \xc3",
                                          std::string("a\0b\0", 4),
                                          "' \" ; --"};
  Changes changes = {PutSweep{SampleSweep()}};
  std::vector<TrialRow> trials;
  for (const std::string& text : texts) {
    TrialRow row = SampleTrial(static_cast<int64_t>(trials.size()));
    row.detail = text;
    trials.push_back(row);
    changes.push_back(PutTrial{row});
  }
  SweepRow sweep = SampleSweep();
  sweep.config = texts[2];
  sweep.origin["diff"] = texts[3];
  sweep.origin[texts[3]] = texts[1];
  changes.push_back(PutSweep{sweep});
  kind.store->Commit(changes);
  kind.Reopen();
  const auto snapshot = kind.store->Load();
  CHECK(snapshot->trials == trials);
  CHECK(snapshot->sweep == sweep);
}

TEST_CASE("a faulty store fails when told and leaves nothing behind") {
  FaultyStore store(NewMemoryStore(), {.every = 3, .first = 1, .last = 1});
  CHECK_THROWS_AS(store.Commit(SampleChanges()), EnvironmentError);
  CHECK_FALSE(store.Load().has_value());
  store.Commit(SampleChanges());
  CHECK(store.Load().has_value());
  CHECK_THROWS_AS(store.Commit(Changes{PutTrial{SampleTrial(2)}}), EnvironmentError);
  CHECK(store.Load()->trials.size() == 2);
  store.Commit(Changes{PutTrial{SampleTrial(2)}});
  CHECK(store.Load()->trials.size() == 3);
  CHECK(store.commits() == 4);
  CHECK(store.failed() == 2);
}

TEST_SUITE_END();

}  // namespace hyperopt

// Records of older versions. The steps are tested with an invented future, so that the
// machinery is proved before the first real one is needed.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/internal/sqlite_store.h"
#include "trial/testing/sample_record.h"
#include "trial/testing/store_folder.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;
using Changes = std::vector<RecordChange>;

SqliteOptions Future(int version) {
  SqliteOptions options;
  options.schema.version = version;
  options.schema.upgrades = {
      {.from = 1, .sql = "CREATE TABLE two (x INTEGER); INSERT INTO two VALUES (1)"},
      {.from = 2, .sql = "UPDATE two SET x = x + 1; DROP VIEW run_view"}};
  options.schema.upgrades.resize(static_cast<size_t>(version - 1));
  return options;
}

fs::path MakeRecord(const fs::path& folder) {
  const fs::path path = folder / "sweep.db";
  OpenSqliteStore(path, StoreMode::kCreate)->Commit(SampleChanges());
  return path;
}

int64_t Version(const fs::path& path) {
  return Database(path, OpenHow::kReadOnly).ReadInteger("PRAGMA user_version");
}

}  // namespace

TEST_SUITE_BEGIN("SQLite upgrade");

TEST_CASE("an older record goes through every step and a copy is kept") {
  const StoreFolder folder;
  const fs::path path = MakeRecord(folder.path());
  const auto before = OpenSqliteStore(path, StoreMode::kOpen)->Load();
  const auto store = OpenSqliteStore(path, StoreMode::kOpen, Future(3));
  CHECK(store->Load() == before);
  const std::string copy = path.string() + ".v1.bak";
  REQUIRE(store->notes().size() == 1);
  CHECK(store->notes()[0].find(copy) != std::string::npos);
  Database database(path, OpenHow::kReadOnly);
  CHECK(database.ReadInteger("PRAGMA user_version") == 3);
  CHECK(database.ReadInteger("SELECT x FROM two") == 2);
  CHECK(Version(copy) == 1);
  CHECK(OpenSqliteStore(copy, StoreMode::kReadOnly)->Load() == before);

  store->Commit(Changes{AddEvent{SampleEvent(2)}});
  CHECK(OpenSqliteStore(path, StoreMode::kOpen, Future(3))->notes().empty());
}

TEST_CASE("the copy holds what a killed writer left in its log") {
  const StoreFolder folder;
  const fs::path path = folder.path() / "sweep.db";
  const fs::path left = folder.path() / "left.db";
  const auto writer = OpenSqliteStore(path, StoreMode::kCreate);
  writer->Commit(SampleChanges());
  for (const char* suffix : {"", "-wal"}) {
    fs::copy_file(path.string() + suffix, left.string() + suffix);
  }
  OpenSqliteStore(left, StoreMode::kOpen, Future(2));
  const auto copy = OpenSqliteStore(left.string() + ".v1.bak", StoreMode::kReadOnly);
  CHECK(copy->Load() == writer->Load());
}

TEST_CASE("a step that fails leaves the version before it, and the next open goes on") {
  const StoreFolder folder;
  const fs::path path = MakeRecord(folder.path());
  SqliteOptions broken = Future(3);
  broken.schema.upgrades[1].sql = "UPDATE two SET x = 7; SELECT * FROM nowhere";
  CHECK_THROWS_AS(OpenSqliteStore(path, StoreMode::kOpen, broken), EnvironmentError);
  CHECK(Version(path) == 2);
  CHECK(Database(path, OpenHow::kReadOnly).ReadInteger("SELECT x FROM two") == 1);
  CHECK(OpenSqliteStore(path, StoreMode::kOpen, Future(3))->Load()->trials.size() == 2);
  CHECK(Version(path) == 3);
  CHECK(Version(path.string() + ".v1.bak") == 1);
  CHECK(Version(path.string() + ".v2.bak") == 2);
}

TEST_CASE("a reader does not upgrade: it says who does") {
  const StoreFolder folder;
  const fs::path path = MakeRecord(folder.path());
  CHECK_THROWS_WITH_AS(OpenSqliteStore(path, StoreMode::kReadOnly, Future(2)),
                       doctest::Contains("Resuming the sweep upgrades it"),
                       EnvironmentError);
  CHECK(Version(path) == 1);
}

TEST_CASE("the frozen record of version 1 opens and resumes") {
  const StoreFolder folder;
  const fs::path path = folder.path() / "sweep.db";
  const auto sql = ReadFile(fs::path(HYPEROPT_TESTDATA) / "record_v1.sql");
  REQUIRE(sql.has_value());
  { Database(path, OpenHow::kCreate).Execute(*sql); }
  const auto store = OpenSqliteStore(path, StoreMode::kOpen);
  const auto snapshot = store->Load();
  REQUIRE(snapshot.has_value());
  SweepRow sweep = SampleSweep();
  sweep.last_event = 1;
  CHECK(snapshot->sweep == sweep);
  CHECK(snapshot->trials == std::vector{SampleTrial(0), SampleTrial(1)});
  CHECK(snapshot->open_runs == std::vector{SampleRun(0)});
  CHECK(snapshot->offsets.at(SampleKey(0)) ==
        std::vector<SourceOffset>{{SourceId(), 2049, 77, 10}});
  CHECK(snapshot->rungs.size() == 1);
  CHECK(snapshot->executors == std::vector{SampleExecutor(1)});
  CHECK(store->LoadReports(TrialId(0)) == std::vector{SampleReport(0, 10, 0.5)});
  CHECK(store->LoadFiles(TrialId(0)) ==
        std::vector{FileRow{SampleKey(0), "stdout.log", 5, "hello"}});
  const std::vector<TrialId> ids = {TrialId(0)};
  CHECK(store->LoadParams(ids).at(0) == Params{{"lr", 0.001}, {"layers", int64_t{3}}});

  RunRow run = SampleRun(0);
  run.ended = 1700000009.0;
  run.outcome = "lost";
  store->Commit(Changes{
      PutRun{run}, PutTrial{SampleTrial(2)}, AddReport{SampleReport(0, 20, 0.75)}});
  CHECK(store->Load()->trials.size() == 3);
  CHECK(store->Load()->open_runs.empty());
  CHECK(store->LoadReports(TrialId(0)).size() == 2);
}

TEST_SUITE_END();

}  // namespace hyperopt

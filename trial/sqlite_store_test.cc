// The record as a file: what it survives and what it says when it can not go on.
#include "trial/internal/sqlite_store.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/rng.h"
#include "trial/testing/sample_record.h"
#include "trial/testing/store_folder.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;
using Changes = std::vector<RecordChange>;

// What opening says; empty where it succeeds.
std::string OpenError(const fs::path& path, StoreMode mode = StoreMode::kOpen) {
  try {
    OpenSqliteStore(path, mode);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "";
}

std::string CommitError(TrialStore& store, const Changes& changes) {
  try {
    store.Commit(changes);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "";
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void WriteText(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A closed record with enough in it to have several pages a table.
fs::path MakeRecord(const fs::path& folder, int64_t trials = 2) {
  const fs::path path = folder / "sweep.db";
  const auto store = OpenSqliteStore(path, StoreMode::kCreate);
  Changes changes = SampleChanges();
  for (int64_t id = 2; id < trials; ++id) {
    changes.push_back(PutTrial{SampleTrial(id)});
    changes.push_back(PutParams{TrialId(id), {{"lr", 0.5}}});
    changes.push_back(PutRun{SampleRun(id)});
    changes.push_back(AddReport{SampleReport(id, 10, 0.5)});
  }
  store->Commit(changes);
  return path;
}

// A batch of `trials` whole trials from `first` on, big enough to need new pages.
Changes BigBatch(int64_t first, int64_t trials) {
  Changes changes;
  for (int64_t id = first; id < first + trials; ++id) {
    TrialRow row = SampleTrial(id);
    row.detail = std::string(1000, 'x');
    changes.push_back(PutTrial{row});
    changes.push_back(AddReport{SampleReport(id, 10, 0.5)});
  }
  return changes;
}

}  // namespace

TEST_SUITE_BEGIN("SQLite store");

TEST_CASE("creating: whole or not at all, and never over another") {
  const StoreFolder folder;
  const fs::path path = folder.path() / "sweep.db";
  WriteText(path.string() + ".new", "half a record of a process that was killed");
  { OpenSqliteStore(path, StoreMode::kCreate); }
  CHECK_FALSE(fs::exists(path.string() + ".new"));
  CHECK_FALSE(OpenSqliteStore(path, StoreMode::kOpen)->Load().has_value());
  CHECK(Has(OpenError(path, StoreMode::kCreate), "already"));
  CHECK(Has(OpenError(folder.path() / "no folder" / "sweep.db", StoreMode::kCreate),
            "no folder"));
}

TEST_CASE("the file says what it is, in WAL mode") {
  const StoreFolder folder;
  const fs::path path = MakeRecord(folder.path());
  Database database(path, OpenHow::kReadOnly);
  CHECK(database.ReadInteger("PRAGMA application_id") == kApplicationId);
  CHECK(database.ReadInteger("PRAGMA user_version") == 1);
  CHECK(database.ReadText("PRAGMA journal_mode") == "wal");
  CHECK(database.ReadText("SELECT params FROM trial_view WHERE id = 1") ==
        R"({"layers":1,"lr":0.01})");
  CHECK(database.ReadText("SELECT state FROM trial_view") == "pending");
  CHECK(database.ReadText("SELECT executor FROM run_view") == "embedded");
}

TEST_CASE("what can not be opened says why and what to do") {
  const StoreFolder folder;
  const fs::path path = folder.path() / "sweep.db";
  for (const StoreMode mode : {StoreMode::kOpen, StoreMode::kReadOnly}) {
    CAPTURE(static_cast<int>(mode));
    CHECK(Has(OpenError(path, mode), path.string() + ": there is no record"));
    CHECK(Has(OpenError(folder.path(), mode), "this is a folder"));
    WriteText(path, "");
    CHECK(Has(OpenError(path, mode), "empty"));
    WriteText(path, std::string(5000, 't'));
    const std::string text_error = OpenError(path, mode);
    CHECK(Has(text_error, "damaged"));
    CHECK(Has(text_error, ".recover"));
    CHECK(Has(text_error, "--fresh"));
    fs::remove(path);
    { Database(path, OpenHow::kCreate).Execute("CREATE TABLE books (title)"); }
    CHECK(Has(OpenError(path, mode), "another program"));
    fs::remove(path);
  }
}

TEST_CASE("a newer record is refused and left alone") {
  const StoreFolder folder;
  const fs::path path = MakeRecord(folder.path());
  { Database(path, OpenHow::kReadWrite).Execute("PRAGMA user_version = 99"); }
  CHECK(Has(OpenError(path), "newer hyperopt"));
  CHECK(Has(OpenError(path), "version 99"));
  CHECK(Has(OpenError(path, StoreMode::kReadOnly), "newer hyperopt"));
  CHECK(Database(path, OpenHow::kReadOnly).ReadInteger("PRAGMA user_version") == 99);
}

TEST_CASE("damage is met with an EnvironmentError, wherever it is") {
  const StoreFolder folder;
  const fs::path path = MakeRecord(folder.path(), 300);
  const std::string whole = *ReadFile(path);
  Rng rng(1, TrialId(0), "damage");
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string text = whole;
    if (round % 4 == 0) text.resize(rng.Below(text.size()));
    for (int flips = 0; flips < 20 && !text.empty(); ++flips) {
      // Half of them where a page keeps its structure.
      const size_t page = rng.Below(text.size()) / 4096 * 4096;
      const size_t at = page + rng.Below(flips % 2 == 0 ? 64 : 4096);
      if (at < text.size()) text[at] = static_cast<char>(rng.Next());
    }
    WriteText(path, text);
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(path.string() + suffix);
    try {
      const auto store = OpenSqliteStore(path, StoreMode::kOpen);
      const auto snapshot = store->Load();
      const std::vector<TrialId> ids = {TrialId(0), TrialId(150)};
      store->LoadParams(ids);
      store->LoadRuns(TrialId(150));
      store->LoadReports(TrialId(150));
      store->Commit(Changes{PutTrial{SampleTrial(300)}, PutRun{SampleRun(300)}});
    } catch (const EnvironmentError& error) {
      ++refused;
      CHECK(Has(error.what(), path.string()));
    }
  }
  CHECK(refused > 50);
}

TEST_CASE("values that nobody wrote are damage") {
  const StoreFolder folder;
  const fs::path path = MakeRecord(folder.path());
  for (const char* sql : {"UPDATE trial SET state = 'asleep'",
                          "UPDATE trial SET best_kind = 'big'",
                          "UPDATE trial SET stopping = 'bored'",
                          "UPDATE trial SET attempt = 99999999999",
                          "UPDATE sweep SET seed = 'x'",
                          "UPDATE run SET devices = '[1'",
                          "UPDATE run SET devices = '{}'",
                          "DELETE FROM trial WHERE id = 0"}) {
    CAPTURE(sql);
    const StoreFolder copy;
    fs::copy_file(path, copy.path() / "sweep.db");
    { Database(copy.path() / "sweep.db", OpenHow::kReadWrite).Execute(sql); }
    const auto store = OpenSqliteStore(copy.path() / "sweep.db", StoreMode::kOpen);
    CHECK_THROWS_WITH_AS(store->Load(), doctest::Contains("damaged"), EnvironmentError);
  }
  { Database(path, OpenHow::kReadWrite).Execute("UPDATE parameter SET value = '{'"); }
  const auto store = OpenSqliteStore(path, StoreMode::kOpen);
  const std::vector<TrialId> ids = {TrialId(0)};
  CHECK_THROWS_WITH_AS(
      store->LoadParams(ids), doctest::Contains("damaged"), EnvironmentError);
}

TEST_CASE("a full database takes nothing of a commit, and all of it later") {
  const StoreFolder folder;
  const fs::path path = folder.path() / "sweep.db";
  SqliteOptions options;
  SUBCASE("WAL") {}
  SUBCASE("rollback journal") { options.network_file_system = true; }
  options.max_pages = 60;
  auto store = OpenSqliteStore(path, StoreMode::kCreate, options);
  store->Commit(SampleChanges());
  const auto before = store->Load();
  const Changes batch = BigBatch(2, 200);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const std::string error = CommitError(*store, batch);
    CHECK(Has(error, path.string()));
    CHECK(Has(error, "the disk is full"));
    CHECK(Has(error, "Free space"));
    CHECK(store->Load() == before);
    CHECK(store->LoadReports(TrialId(2)).empty());
  }
  store->Commit(Changes{AddEvent{SampleEvent(2)}});
  CHECK(store->Load()->sweep.last_event == 2);
  store.reset();
  options.max_pages = 0;
  store = OpenSqliteStore(path, StoreMode::kOpen, options);
  store->Commit(batch);
  CHECK(store->Load()->trials.size() == 202);
}

TEST_CASE("the sweep's texts are written again after a commit that failed") {
  const StoreFolder folder;
  SqliteOptions options;
  options.max_pages = 60;
  const auto store =
      OpenSqliteStore(folder.path() / "sweep.db", StoreMode::kCreate, options);
  store->Commit(SampleChanges());
  SweepRow sweep = SampleSweep();
  sweep.config = "edited";
  sweep.last_event = 1;
  Changes batch = BigBatch(2, 200);
  batch.insert(batch.begin(), PutSweep{sweep});
  CHECK(CommitError(*store, batch) != "");
  CHECK(store->Load()->sweep.config == SampleSweep().config);
  store->Commit(Changes{PutSweep{sweep}});
  CHECK(store->Load()->sweep == sweep);
}

TEST_CASE("a disk of 4 MiB fills up, and the sweep goes on when there is room") {
  const StoreFolder folder;
  const fs::path disk = folder.path() / "disk";
  fs::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4m") != 0) {
    MESSAGE("skipped: no right to mount a tmpfs here");
    return;
  }
  struct Unmount {
    fs::path path;
    ~Unmount() { umount2(path.c_str(), MNT_DETACH); }
  } unmount{disk};
  const fs::path ballast = disk / "ballast";
  WriteText(ballast, std::string(1 << 20, 'b'));
  auto store = OpenSqliteStore(disk / "sweep.db", StoreMode::kCreate);
  store->Commit(SampleChanges());
  int64_t trials = 2;
  std::string error;
  while (error.empty() && trials < 10'000) {
    error = CommitError(*store, BigBatch(trials, 20));
    if (error.empty()) trials += 20;
  }
  CHECK(Has(error, "the disk is full"));
  CHECK(static_cast<int64_t>(store->Load()->trials.size()) == trials);
  CHECK(CommitError(*store, BigBatch(trials, 20)) != "");
  fs::remove(ballast);
  CHECK(CommitError(*store, BigBatch(trials, 20)) == "");
  trials += 20;
  store.reset();
  store = OpenSqliteStore(disk / "sweep.db", StoreMode::kOpen);
  CHECK(static_cast<int64_t>(store->Load()->trials.size()) == trials);
}

TEST_CASE("a reader sees each commit of a living writer and can not write") {
  const StoreFolder folder;
  const fs::path path = folder.path() / "sweep.db";
  const auto writer = OpenSqliteStore(path, StoreMode::kCreate);
  const auto reader = OpenSqliteStore(path, StoreMode::kReadOnly);
  CHECK_FALSE(reader->Load().has_value());
  writer->Commit(SampleChanges());
  CHECK(reader->Load() == writer->Load());
  // A reader in the middle of a read does not hold the writer up.
  reader->ForEachEvent(1, [&](const EventRow&) {
    writer->Commit(Changes{AddEvent{SampleEvent(2)}});
    return true;
  });
  CHECK(reader->Load()->sweep.last_event == 2);
  CHECK(Has(CommitError(*reader, SampleChanges()), "for reading only"));
}

TEST_CASE("a visitor that throws leaves the store usable") {
  const StoreFolder folder;
  const auto store = OpenSqliteStore(folder.path() / "sweep.db", StoreMode::kCreate);
  store->Commit(SampleChanges());
  CHECK_THROWS_AS(
      store->ForEachEvent(1, [](const EventRow&) -> bool { throw ConfigError("x"); }),
      ConfigError);
  store->Commit(Changes{AddEvent{SampleEvent(2)}});
  CHECK(store->Load()->sweep.last_event == 2);
}

TEST_CASE("a record locked by another program says so; the same commit works later") {
  const StoreFolder folder;
  const fs::path path = MakeRecord(folder.path());
  const auto store = OpenSqliteStore(path, StoreMode::kOpen);
  {
    Database shell(path, OpenHow::kReadWrite);
    Transaction transaction(shell);
    CHECK(Has(CommitError(*store, {AddEvent{SampleEvent(2)}}), "locked"));
  }
  CHECK(CommitError(*store, {AddEvent{SampleEvent(2)}}) == "");
}

// As a reader locks it that recovers the log of a writer that was killed.
TEST_CASE("a record that is locked for a moment is waited for when it is opened") {
  const StoreFolder folder;
  const fs::path path = MakeRecord(folder.path());
  std::atomic<bool> locked = false, opening = false;
  std::thread other([&] {
    Database holder(path, OpenHow::kReadWrite);
    holder.Execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    locked = true;
    while (!opening) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    holder.Execute("ROLLBACK");
  });
  while (!locked) std::this_thread::yield();
  opening = true;
  CHECK(OpenError(path) == "");
  other.join();
}

TEST_CASE("a record on a medium that can not be written is read") {
  const StoreFolder folder;
  const fs::path disk = folder.path() / "a % disk?";
  fs::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4m") != 0) {
    MESSAGE("skipped: no right to mount a tmpfs here");
    return;
  }
  struct Unmount {
    fs::path path;
    ~Unmount() { umount2(path.c_str(), MNT_DETACH); }
  } unmount{disk};
  const fs::path path = MakeRecord(disk);
  REQUIRE(mount("", disk.c_str(), "", MS_REMOUNT | MS_RDONLY, "") == 0);
  const auto reader = OpenSqliteStore(path, StoreMode::kReadOnly);
  CHECK(reader->Load()->trials.size() == 2);
  CHECK(reader->LoadReports(TrialId(0)).size() == 1);
  const std::string error = OpenError(path, StoreMode::kOpen);
  CHECK(Has(error, path.string()));
  CHECK(Has(error, "Check the owner and mode"));
  CHECK(OpenError(disk / "other.db", StoreMode::kCreate) != "");
}

TEST_CASE("on a network file system: a rollback journal, said once") {
  const StoreFolder folder;
  const fs::path path = folder.path() / "sweep.db";
  SqliteOptions options;
  options.network_file_system = true;
  {
    const auto store = OpenSqliteStore(path, StoreMode::kCreate, options);
    REQUIRE(store->notes().size() == 1);
    CHECK(Has(store->notes()[0], "rollback journal"));
    store->Commit(SampleChanges());
    CHECK_FALSE(fs::exists(path.string() + "-wal"));
  }
  // Moved to a local disk, it goes on in WAL mode, and back again.
  { CHECK(OpenSqliteStore(path, StoreMode::kOpen)->notes().empty()); }
  CHECK(Database(path, OpenHow::kReadOnly).ReadText("PRAGMA journal_mode") == "wal");
  const auto store = OpenSqliteStore(path, StoreMode::kOpen, options);
  CHECK(store->Load()->trials.size() == 2);
}

TEST_SUITE_END();

}  // namespace hyperopt

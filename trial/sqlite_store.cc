#include "trial/internal/sqlite_store.h"

#include <fmt/format.h>

#include <cerrno>

#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/internal/sqlite_rows.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// 4 KiB pages: what a disk writes at once.
// Cache: the tail of every table and the upper levels of every tree stay in memory.
// Autocheckpoint at 16 MiB of log, not 4: each commit logs the same few pages again, so
// a longer log folds more commits into one write and one fsync of the database, and 16
// MiB are still read back in milliseconds after a crash. The log is cut to that size
// where a long read made it grow.
// secure_delete (on in Debian's build) would zero what each replaced row leaves behind.
// cell_size_check finds a damaged page when it is read, not when its rubbish is used.
// The busy time comes first, since the next one reads already, perhaps while a reader
// recovers the log of a killed writer. It is short: the loop stands meanwhile, and
// tries again by itself.
constexpr char kSettings[] = R"sql(
PRAGMA busy_timeout = 2000;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -8192;
PRAGMA temp_store = MEMORY;
PRAGMA secure_delete = OFF;
PRAGMA cell_size_check = ON;
PRAGMA wal_autocheckpoint = 4096;
PRAGMA journal_size_limit = 16777216;
)sql";

void RequireRecord(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw EnvironmentError(
        fmt::format("{}: there is no record of a sweep here.", path.string()));
  }
  if (fs::is_directory(status)) {
    throw EnvironmentError(
        fmt::format("{}: this is a folder, not the record of a sweep; name the sweep's "
                    "folder, which holds sweep.db.",
                    path.string()));
  }
  if (fs::is_regular_file(status) && fs::file_size(path, error) == 0 && !error) {
    throw EnvironmentError(
        fmt::format("{}: this file is empty, not the record of a sweep. Where a sweep "
                    "was never started here, remove it; else restore it from a copy.",
                    path.string()));
  }
}

// Built under another name and renamed once it is whole, so that a process killed here
// leaves no half record that the next one would have to judge.
void CreateRecord(const fs::path& path, const SqliteOptions& options) {
  if (fs::exists(path)) {
    throw EnvironmentError(fmt::format(
        "{}: there is a record of a sweep here already. Resume it, or start over with "
        "--fresh, which renames the old folder.",
        path.string()));
  }
  const fs::path unfinished = path.string() + ".new";
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    std::error_code ignored;
    fs::remove(unfinished.string() + suffix, ignored);
  }
  {
    Database database(unfinished, OpenHow::kCreate);
    database.Execute("PRAGMA synchronous = OFF; PRAGMA page_size = 4096");
    CreateSchema(database, options.schema);
    if (!options.network_file_system) database.Execute("PRAGMA journal_mode = WAL");
  }
  SyncFile(unfinished);
  std::error_code error;
  fs::rename(unfinished, path, error);
  if (error) ThrowFileError(path, "cannot be created", error.value());
  SyncFolder(path.parent_path());
}

class SqliteStore final : public TrialStore {
 public:
  SqliteStore(const fs::path& path, StoreMode mode, const SqliteOptions& options)
      : how_(mode == StoreMode::kReadOnly ? HowToRead(path) : OpenHow::kReadWrite),
        database_(path, how_) {
    database_.Execute(kSettings);
    const int version = CheckVersion(database_, options.schema);
    if (mode == StoreMode::kReadOnly) {
      RequireVersion(version, options.schema.version);
    } else {
      PrepareToWrite(version, options);
      writer_.emplace(database_);
    }
    reader_.emplace(database_);
  }

  void Commit(std::span<const RecordChange> changes) override {
    if (!writer_) {
      throw EnvironmentError(fmt::format("{}: the record was opened for reading only.",
                                         database_.path().string()));
    }
    try {
      Transaction transaction(database_);
      for (const RecordChange& change : changes) writer_->Apply(change);
      transaction.Commit();
      writer_->Committed();
    } catch (...) {
      writer_->RolledBack();
      throw;
    }
  }

  std::optional<RecordSnapshot> Load() const override {
    auto snapshot = reader_->Load();
    if (how_ == OpenHow::kImmutable && HasWal(database_.path())) {
      throw EnvironmentError(
          fmt::format("{}: a controller began to write while this was read; ask again.",
                      database_.path().string()));
    }
    return snapshot;
  }

  std::vector<Params> LoadParams(std::span<const TrialId> trials) const override {
    return reader_->LoadParams(trials);
  }

  std::vector<RunRow> LoadRuns(TrialId trial) const override {
    return reader_->LoadRuns(trial);
  }

  std::vector<ReportRow> LoadReports(TrialId trial) const override {
    return reader_->LoadReports(trial);
  }

  void ForEachReport(
      const std::function<bool(const ReportRow&)>& visit) const override {
    reader_->ForEachReport(visit);
  }

  std::vector<FileRow> LoadFiles(TrialId trial) const override {
    return reader_->LoadFiles(trial);
  }

  void ForEachEvent(int64_t first,
                    const std::function<bool(const EventRow&)>& visit) const override {
    reader_->ForEachEvent(first, visit);
  }

  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  void RequireVersion(int version, int current) const {
    if (version == current) return;
    throw EnvironmentError(
        fmt::format("{}: an older hyperopt wrote this record (version {}; this one "
                    "reads {}). Resuming the sweep upgrades it and keeps a copy.",
                    database_.path().string(),
                    version,
                    current));
  }

  void PrepareToWrite(int version, const SqliteOptions& options) {
    SetJournal(options.network_file_system);
    if (version < options.schema.version) {
      const std::string copy = Upgrade(database_, options.schema, version);
      notes_.push_back(
          fmt::format("{}: upgraded from version {} to {}; the old one is kept as {}",
                      database_.path().string(),
                      version,
                      options.schema.version,
                      copy));
    }
    if (options.max_pages > 0) {
      database_.ReadInteger(
          fmt::format("PRAGMA max_page_count = {}", options.max_pages));
    }
  }

  // A log in shared memory is not seen by other hosts, so a folder that moved to a
  // network file system gets a rollback journal, and WAL again where it moves back.
  void SetJournal(bool network_file_system) {
    const std::string wanted = network_file_system ? "delete" : "wal";
    const std::string mode = database_.ReadText("PRAGMA journal_mode = " + wanted);
    if (mode != wanted) {
      throw EnvironmentError(
          fmt::format("{}: the record's journal mode is {} and can not be made {}. "
                      "Close other programs that have it open.",
                      database_.path().string(),
                      mode,
                      wanted));
    }
    if (!network_file_system) return;
    notes_.push_back(
        fmt::format("{}: on a network file system; using a rollback journal, which is "
                    "slower. Open it on other hosts only while no sweep runs.",
                    database_.path().string()));
  }

  OpenHow how_;
  std::vector<std::string> notes_;
  // The reader's cached statements change as they run; what the store shows does not.
  mutable Database database_;
  std::optional<RecordWriter> writer_;
  mutable std::optional<RecordReader> reader_;
};

}  // namespace

std::unique_ptr<TrialStore> OpenSqliteStore(const fs::path& path,
                                            StoreMode mode,
                                            const SqliteOptions& options) {
  const fs::path absolute = fs::absolute(path);
  if (mode == StoreMode::kCreate) {
    CreateRecord(absolute, options);
  } else {
    RequireRecord(absolute);
  }
  return std::make_unique<SqliteStore>(absolute, mode, options);
}

std::unique_ptr<TrialStore> OpenSqliteStore(const fs::path& path, StoreMode mode) {
  SqliteOptions options;
  options.network_file_system = IsNetworkFileSystem(path);
  return OpenSqliteStore(path, mode, options);
}

}  // namespace hyperopt

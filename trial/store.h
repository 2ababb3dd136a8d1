// Where a sweep's record is kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trial/record.h"

namespace hyperopt {

// One writer, the controller. Calls come from one thread.
//
// REQUIRES: the first commit of a new store begins with a PutSweep; a trial is put
// before anything that names it.
class TrialStore {
 public:
  virtual ~TrialStore() = default;

  // Makes all changes durable, or none: when it throws, nothing of `changes` is in the
  // store and the same call may be made again. Throws EnvironmentError with the cause
  // (disk full, I/O, locked).
  virtual void Commit(std::span<const RecordChange> changes) = 0;

  // nullopt for a store in which nothing was ever committed.
  virtual std::optional<RecordSnapshot> Load() const = 0;

  // The trials' parameters, in the order of `trials`.
  virtual std::vector<Params> LoadParams(std::span<const TrialId> trials) const = 0;
  // All runs of a trial, by (run, attempt).
  virtual std::vector<RunRow> LoadRuns(TrialId trial) const = 0;
  // All reports of a trial, of every attempt, in the order they were committed.
  virtual std::vector<ReportRow> LoadReports(TrialId trial) const = 0;
  // Calls back for each report of all trials, in the order of their commit, until it
  // returns false. Source, offset and wall time may be left out.
  virtual void ForEachReport(
      const std::function<bool(const ReportRow&)>& visit) const = 0;
  // The files of a trial that the record keeps, by (run, attempt, name).
  virtual std::vector<FileRow> LoadFiles(TrialId trial) const = 0;
  // Calls back for each event from `first` on, by number, until it returns false.
  virtual void ForEachEvent(
      int64_t first, const std::function<bool(const EventRow&)>& visit) const = 0;

  // What a person should hear once about how this store works, a line each: the journal
  // chosen on a network file system, an upgrade and where the copy is. Mostly empty.
  virtual const std::vector<std::string>& notes() const = 0;
};

enum class StoreMode {
  kCreate,    // there must be no database yet
  kOpen,      // there must be one; an older schema is upgraded, a copy is kept
  kReadOnly,  // for status, export, verify beside a living controller; Commit throws
};

// SQLite in WAL mode with synchronous=FULL; a rollback journal on a network file
// system, with the reason in notes(). The folder must exist; kCreate makes the file
// whole or not at all, whenever it is killed. Every failure, here and in the calls, is
// an EnvironmentError that names the file and the way out (missing, not a record, newer
// version, damaged, unreadable, locked, disk full, I/O); after one in a call the store
// stays usable.
std::unique_ptr<TrialStore> OpenSqliteStore(const std::filesystem::path& path,
                                            StoreMode mode);

// The same contract without a file, for tests and simulation.
std::unique_ptr<TrialStore> NewMemoryStore();

}  // namespace hyperopt

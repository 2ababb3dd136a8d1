// The rows of the record to and from tables: one prepared statement a kind of change,
// kept for the life of the connection.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trial/internal/sqlite.h"
#include "trial/record.h"

namespace hyperopt {

// Applies changes inside the caller's transaction.
class RecordWriter {
 public:
  explicit RecordWriter(Database& database);

  void Apply(const RecordChange& change);
  // Whether the caller's transaction stands. Tells what the database is known to hold.
  void Committed();
  void RolledBack();

 private:
  // The long texts of the sweep (file, settings, a diff of up to 1 MiB), which hardly
  // ever change while its row does each few seconds.
  using Texts = std::map<std::pair<std::string, std::string>, std::string>;

  void Put(const PutSweep& change);
  void Put(const PutTrial& change);
  void Put(const PutParams& change);
  void Put(const PutRun& change);
  void Put(const AddReport& change);
  void Put(const PutRung& change);
  void Put(const PutFile& change);
  void Put(const PutOffset& change);
  void Put(const AddEvent& change);
  void Put(const PutExecutor& change);
  void PutTexts(const SweepRow& row);

  Statement sweep_, clear_texts_, text_, trial_, parameter_, run_, report_, rung_,
      file_, source_, event_, executor_;
  std::optional<Texts> written_;    // in this transaction
  std::optional<Texts> committed_;  // nullopt: not known
};

// The columns that ReadTrial reads, of the table `trial`.
inline constexpr std::string_view kTrialColumns =
    "id, state, reason, detail, attempt, failures, lost, stopping, best, best_kind, "
    "best_step, last, last_kind, last_step, reports, elapsed_s, created, started, "
    "ended, parent, history";
TrialRow ReadTrial(RowReader& row);

class RecordReader {
 public:
  explicit RecordReader(Database& database);

  // In one read transaction: a consistent picture beside a living writer.
  std::optional<RecordSnapshot> Load();
  Params LoadParams(TrialId trial);
  std::vector<Params> LoadParams(std::span<const TrialId> trials);
  std::vector<RunRow> LoadRuns(TrialId trial);
  std::vector<ReportRow> LoadReports(TrialId trial);
  void ForEachReport(const std::function<bool(const ReportRow&)>& visit);
  std::vector<FileRow> LoadFiles(TrialId trial);
  void ForEachEvent(int64_t first, const std::function<bool(const EventRow&)>& visit);

 private:
  std::optional<SweepRow> LoadSweep();
  std::vector<TrialRow> LoadTrials();
  std::vector<RungRow> LoadRungs();
  std::vector<ExecutorRow> LoadExecutors();
  RunRow ReadRun(RowReader& row) const;
  std::pair<std::string_view, ParamValue> ReadParam(RowReader& row) const;
  template <typename Read>
  auto GuardJson(const Read& read) const;

  Database& database_;
  Statement params_, many_params_, runs_, reports_, all_reports_, files_, events_;
};

}  // namespace hyperopt

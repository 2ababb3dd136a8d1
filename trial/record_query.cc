#include "trial/record_query.h"

#include <fmt/format.h>

#include "trial/internal/sqlite_rows.h"

namespace hyperopt {

struct RecordQuery::Statements {
  explicit Statements(const std::filesystem::path& path)
      : database(path, HowToRead(path)),
        sweep(database,
              "SELECT id, name, goal, metric, state, created, alive_s FROM sweep"),
        texts(database,
              "SELECT kind, name, value FROM sweep_text "
              "WHERE kind = 'origin' OR (kind = 'file' AND name = 'resolved')"),
        count(database, "SELECT coalesce(max(id) + 1, 0) FROM trial"),
        trial(database,
              fmt::format("SELECT {} FROM trial WHERE id = ?", kTrialColumns)),
        rungs(database,
              "SELECT bracket, rung, level, value, value_kind, time, late, stopped "
              "FROM rung WHERE trial = ? ORDER BY bracket, rung"),
        executor(database, "SELECT name, host, embedded FROM executor WHERE id = ?") {}

  Database database;
  Statement sweep, texts, count, trial, rungs, executor;
};

RecordQuery::RecordQuery(const std::filesystem::path& path)
    : store_(OpenSqliteStore(path, StoreMode::kReadOnly)),
      statements_(std::make_unique<Statements>(std::filesystem::absolute(path))) {}

RecordQuery::~RecordQuery() = default;

std::optional<SweepRow> RecordQuery::Sweep() const {
  std::optional<SweepRow> sweep;
  statements_->sweep.ForEach([&](RowReader row) {
    sweep.emplace();
    sweep->id = row.Text();
    sweep->name = row.Text();
    sweep->goal =
        row.Text() == ToString(Goal::kMaximize) ? Goal::kMaximize : Goal::kMinimize;
    sweep->metric = row.Text();
    sweep->state = row.Word(SweepStateFromString);
    sweep->created = row.Real();
    sweep->alive_s = row.Real();
    return false;
  });
  if (!sweep) return sweep;
  statements_->texts.ForEach([&](RowReader row) {
    const bool is_file = row.Text() == "file";
    const std::string name(row.Text());
    (is_file ? sweep->resolved : sweep->origin[name]) = row.Text();
    return true;
  });
  return sweep;
}

int64_t RecordQuery::TrialCount() const {
  int64_t count = 0;
  statements_->count.ForEach([&](RowReader row) {
    count = row.Integer();
    return false;
  });
  return count;
}

std::optional<TrialRow> RecordQuery::Trial(TrialId id) const {
  std::optional<TrialRow> found;
  statements_->trial.ForEach(
      [&](RowReader row) {
        found = ReadTrial(row);
        return false;
      },
      id.value());
  return found;
}

std::vector<RungRow> RecordQuery::Rungs(TrialId id) const {
  std::vector<RungRow> rungs;
  statements_->rungs.ForEach(
      [&](RowReader row) {
        RungRow& rung = rungs.emplace_back();
        rung.trial = id;
        rung.bracket = row.Integer32();
        rung.rung = row.Integer32();
        rung.level = row.Integer();
        rung.value = row.Number();
        rung.time = row.Integer();
        rung.late = row.Integer() != 0;
        rung.stopped = row.Integer() != 0;
        return true;
      },
      id.value());
  return rungs;
}

std::optional<ExecutorRow> RecordQuery::Executor(ExecutorId id) const {
  std::optional<ExecutorRow> found;
  statements_->executor.ForEach(
      [&](RowReader row) {
        ExecutorRow& executor = found.emplace();
        executor.id = id;
        executor.name = row.Text();
        executor.host = row.Text();
        executor.embedded = row.Integer() != 0;
        return false;
      },
      id.value());
  return found;
}

}  // namespace hyperopt

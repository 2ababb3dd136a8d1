#include <fmt/format.h>

#include "trial/internal/sqlite_rows.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

// "INSERT OR REPLACE INTO table VALUES (?, ?, ...)". A change names its whole row, so
// replacing is right, and on a rowid it is one seek; an upsert would read the old row
// first.
std::string Replace(std::string_view table, int columns) {
  std::string sql = fmt::format("INSERT OR REPLACE INTO {} VALUES (?", table);
  for (int i = 1; i < columns; ++i) sql += ", ?";
  return sql + ")";
}

std::string DevicesToJson(const std::vector<std::string>& devices) {
  std::string json = "[";
  for (const std::string& device : devices) {
    if (json.size() > 1) json += ',';
    json += QuoteJson(device);
  }
  return json + "]";
}

std::optional<std::string_view> Word(const std::optional<Reason>& reason) {
  if (!reason) return std::nullopt;
  return ToString(*reason);
}

std::optional<int64_t> Number(const std::optional<TrialId>& trial) {
  if (!trial) return std::nullopt;
  return trial->value();
}

}  // namespace

RecordWriter::RecordWriter(Database& database)
    : sweep_(database, Replace("sweep", 11)),
      clear_texts_(database, "DELETE FROM sweep_text"),
      text_(database, Replace("sweep_text", 3)),
      trial_(database, Replace("trial", 21)),
      parameter_(database, Replace("parameter", 3)),
      run_(database, Replace("run", 15)),
      report_(database,
              "INSERT INTO report VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
              "ON CONFLICT (trial, run, attempt, source, generation, offset) "
              "DO NOTHING"),
      rung_(database, Replace("rung", 10)),
      file_(database, Replace("file", 6)),
      source_(database, Replace("source", 8)),
      event_(database, Replace("event", 5)),
      executor_(database, Replace("executor", 8)) {}

void RecordWriter::Apply(const RecordChange& change) {
  std::visit([this](const auto& kind) { Put(kind); }, change);
}

void RecordWriter::Committed() {
  if (written_) committed_ = std::move(written_);
  written_.reset();
}

void RecordWriter::RolledBack() { written_.reset(); }

void RecordWriter::Put(const PutSweep& change) {
  const SweepRow& row = change.row;
  sweep_.Run(1,
             row.id,
             row.name,
             ToString(row.goal),
             row.metric,
             std::to_string(row.seed),
             ToString(row.state),
             NullIfZero{row.created},
             row.alive_s,
             row.last_event,
             row.extra_trials);
  PutTexts(row);
}

void RecordWriter::PutTexts(const SweepRow& row) {
  Texts texts;
  texts[{"file", "config"}] = row.config;
  texts[{"file", "resolved"}] = row.resolved;
  for (const auto& [name, value] : row.settings) texts[{"setting", name}] = value;
  for (const auto& [name, value] : row.origin) texts[{"origin", name}] = value;
  const auto& known = written_ ? written_ : committed_;
  if (known == texts) return;
  clear_texts_.Run();
  for (const auto& [key, value] : texts) text_.Run(key.first, key.second, value);
  written_ = std::move(texts);
}

void RecordWriter::Put(const PutTrial& change) {
  const TrialRow& row = change.row;
  trial_.Run(row.id.value(),
             ToString(row.state),
             ToString(row.reason),
             row.detail,
             row.attempt.value(),
             row.failures,
             row.lost,
             Word(row.stopping),
             row.best,
             row.best_step,
             row.last,
             row.last_step,
             row.reports,
             row.elapsed_s,
             NullIfZero{row.created},
             NullIfZero{row.started},
             NullIfZero{row.ended},
             Number(row.parent),
             row.history);
}

void RecordWriter::Put(const PutParams& change) {
  for (const auto& [name, value] : change.params) {
    parameter_.Run(change.trial.value(), name, ToJsonText(value));
  }
}

void RecordWriter::Put(const PutRun& change) {
  const RunRow& row = change.row;
  run_.Run(row.key.trial.value(),
           row.key.run.value(),
           row.key.attempt.value(),
           row.executor.value(),
           row.host,
           DevicesToJson(row.devices),
           NullIfZero{row.started},
           NullIfZero{row.ended},
           row.exit_code,
           row.signal,
           row.outcome,
           row.peak_memory,
           row.placement,
           fmt::format("[{}]", fmt::join(row.checkpoints, ",")),
           row.resume_from);
}

void RecordWriter::Put(const AddReport& change) {
  const ReportRow& row = change.row;
  report_.Run(row.key.trial.value(),
              row.key.run.value(),
              row.key.attempt.value(),
              row.source.name,
              row.source.generation,
              row.offset,
              row.step,
              row.objective,
              row.values,
              NullIfZero{row.wall},
              row.elapsed_s);
}

void RecordWriter::Put(const PutRung& change) {
  const RungRow& row = change.row;
  rung_.Run(row.trial.value(),
            row.bracket,
            row.rung,
            row.level,
            row.value,
            row.time,
            row.late,
            row.stopped,
            row.order);
}

void RecordWriter::Put(const PutFile& change) {
  const FileRow& row = change.row;
  file_.Run(row.key.trial.value(),
            row.key.run.value(),
            row.key.attempt.value(),
            row.name,
            row.size,
            Blob{row.data});
}

void RecordWriter::Put(const PutOffset& change) {
  const SourceOffset& offset = change.offset;
  source_.Run(change.key.trial.value(),
              change.key.run.value(),
              change.key.attempt.value(),
              offset.source.name,
              offset.source.generation,
              offset.device,
              offset.inode,
              offset.offset);
}

void RecordWriter::Put(const AddEvent& change) {
  const EventRow& row = change.row;
  event_.Run(row.number, NullIfZero{row.wall}, row.kind, Number(row.trial), row.detail);
}

void RecordWriter::Put(const PutExecutor& change) {
  const ExecutorRow& row = change.row;
  executor_.Run(row.id.value(),
                row.name,
                row.host,
                row.boot_id,
                row.embedded,
                row.resources,
                NullIfZero{row.joined},
                NullIfZero{row.left});
}

}  // namespace hyperopt

#include "trial/internal/sqlite_schema.h"

#include <fmt/format.h>

#include <cassert>
#include <filesystem>

#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

// WITHOUT ROWID where the key is what rows are asked for by: one tree instead of two. A
// report has a rowid because its order of arrival is a fact of its own. No index that
// only a person's query would use: each costs every report a page.
constexpr char kCreateVersion1[] = R"sql(
CREATE TABLE sweep (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  goal TEXT NOT NULL,
  metric TEXT NOT NULL,
  seed TEXT NOT NULL,         -- unsigned 64 bit, in decimal digits
  state TEXT NOT NULL,        -- running, interrupted, finished, failed
  created REAL,               -- this and every time: seconds since the epoch
  alive_s REAL,
  last_event INTEGER NOT NULL,
  extra_trials INTEGER NOT NULL
);
CREATE TABLE sweep_text (
  kind TEXT NOT NULL,         -- file (config, resolved), setting, origin
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  lost INTEGER NOT NULL,
  stopping TEXT,              -- the reason of a stop whose end has not come
  best REAL,
  best_kind TEXT NOT NULL,    -- finite, NaN, +inf, -inf, missing
  best_step INTEGER NOT NULL,
  last REAL,
  last_kind TEXT NOT NULL,
  last_step INTEGER NOT NULL,
  reports INTEGER NOT NULL,
  elapsed_s REAL,
  created REAL,
  started REAL,
  ended REAL,
  parent INTEGER,
  history INTEGER NOT NULL    -- the last event its proposal saw
);
CREATE TABLE parameter (
  trial INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,        -- JSON
  PRIMARY KEY (trial, name)
) WITHOUT ROWID;
CREATE TABLE run (
  trial INTEGER NOT NULL,
  run INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  executor INTEGER NOT NULL,
  host TEXT NOT NULL,
  devices TEXT NOT NULL,      -- JSON list
  started REAL,
  ended REAL,                 -- NULL while it is not known to have ended
  exit_code INTEGER,
  signal INTEGER,
  outcome TEXT NOT NULL,
  peak_memory INTEGER NOT NULL,
  placement TEXT NOT NULL,    -- JSON, what it holds on the executor
  checkpoints TEXT NOT NULL,  -- JSON list of steps
  resume_from TEXT NOT NULL,
  PRIMARY KEY (trial, run, attempt)
) WITHOUT ROWID;
CREATE INDEX run_open ON run (trial, run, attempt) WHERE ended IS NULL;
CREATE TABLE source (
  trial INTEGER NOT NULL,
  run INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  device INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  offset INTEGER NOT NULL,    -- bytes that are recorded
  PRIMARY KEY (trial, run, attempt, name, generation)
) WITHOUT ROWID;
CREATE TABLE report (
  number INTEGER PRIMARY KEY, -- order of arrival
  trial INTEGER NOT NULL,
  run INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  source TEXT NOT NULL,
  generation INTEGER NOT NULL,
  offset INTEGER NOT NULL,    -- of the byte after the line's end
  step INTEGER NOT NULL,
  value REAL,
  value_kind TEXT NOT NULL,
  fields TEXT NOT NULL,       -- the whole line's numbers, JSON
  time REAL,
  elapsed_s REAL,
  UNIQUE (trial, run, attempt, source, generation, offset)
);
CREATE TABLE rung (
  trial INTEGER NOT NULL,
  bracket INTEGER NOT NULL,
  rung INTEGER NOT NULL,
  level INTEGER NOT NULL,
  value REAL,
  value_kind TEXT NOT NULL,
  time INTEGER NOT NULL,      -- in units of the scheduler's time_attr
  late INTEGER NOT NULL,
  stopped INTEGER NOT NULL,
  arrival INTEGER NOT NULL,
  PRIMARY KEY (trial, bracket, rung)
) WITHOUT ROWID;
CREATE TABLE file (           -- of attempts whose folder is not kept
  trial INTEGER NOT NULL,
  run INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  name TEXT NOT NULL,
  size INTEGER NOT NULL,      -- unpacked: sqlar_uncompress(data, size)
  data BLOB NOT NULL,
  PRIMARY KEY (trial, run, attempt, name)
);
CREATE TABLE event (
  number INTEGER PRIMARY KEY,
  time REAL,
  kind TEXT NOT NULL,
  trial INTEGER,
  detail TEXT NOT NULL
);
CREATE TABLE executor (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  host TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  embedded INTEGER NOT NULL,
  resources TEXT NOT NULL,    -- JSON
  joined REAL,
  left REAL
);
CREATE VIEW trial_view AS
  SELECT id, state, reason, detail, attempt,
    CASE best_kind WHEN 'finite' THEN best ELSE best_kind END AS best, best_step,
    CASE last_kind WHEN 'finite' THEN last ELSE last_kind END AS last, last_step,
    reports,
    (SELECT json_group_object(name, json(value))
     FROM parameter WHERE parameter.trial = trial.id) AS params,
    datetime(started, 'unixepoch') AS started_utc,
    round(ended - started, 3) AS seconds
  FROM trial;
CREATE VIEW run_view AS
  SELECT trial, run, attempt, executor.name AS executor, run.host AS host, devices,
    outcome, exit_code, signal, datetime(started, 'unixepoch') AS started_utc,
    round(ended - started, 3) AS seconds, peak_memory / 1048576 AS peak_mib, resume_from
  FROM run LEFT JOIN executor ON executor.id = run.executor;
)sql";

// A whole copy, also of what is still in the -wal.
std::string KeepCopy(Database& database, int version) {
  const std::string copy = fmt::format("{}.v{}.bak", database.path().string(), version);
  const std::string unfinished = copy + ".new";
  std::filesystem::remove(unfinished);
  Statement(database, "VACUUM INTO ?").Run(unfinished);
  SyncFile(unfinished);
  std::filesystem::rename(unfinished, copy);
  SyncFolder(database.path().parent_path());
  return copy;
}

}  // namespace

Schema CurrentSchema() {
  return {.version = 1, .create_sql = kCreateVersion1, .upgrades = {}};
}

void CreateSchema(Database& database, const Schema& schema) {
  Transaction transaction(database);
  database.Execute(schema.create_sql);
  database.Execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                               kApplicationId,
                               schema.version));
  transaction.Commit();
}

int CheckVersion(Database& database, const Schema& schema) {
  const std::string path = database.path().string();
  if (database.ReadInteger("PRAGMA application_id") != kApplicationId) {
    throw EnvironmentError(fmt::format(
        "{}: this is a database of another program, not the record of a sweep. Name "
        "another folder with --output, or move the file away.",
        path));
  }
  const int64_t version = database.ReadInteger("PRAGMA user_version");
  if (version > schema.version) {
    throw EnvironmentError(fmt::format(
        "{}: a newer hyperopt wrote this record (version {}; this one knows up to {}). "
        "Use that hyperopt, or start over in a new folder with --fresh.",
        path,
        version,
        schema.version));
  }
  if (version < 1) database.ThrowDamaged(fmt::format("version {}", version));
  return static_cast<int>(version);
}

std::string Upgrade(Database& database, const Schema& schema, int version) {
  const std::string copy = KeepCopy(database, version);
  for (const UpgradeStep& step : schema.upgrades) {
    if (step.from < version) continue;
    assert(step.from == version);
    Transaction transaction(database);
    database.Execute(step.sql);
    database.Execute(fmt::format("PRAGMA user_version = {}", ++version));
    transaction.Commit();
  }
  assert(version == schema.version);
  return copy;
}

}  // namespace hyperopt

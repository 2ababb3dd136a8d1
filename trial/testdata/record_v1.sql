-- A record of version 1, frozen: a test opens it with today's program. Never edited once
-- version 1 is released.
PRAGMA application_id = 1215909744;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO sweep VALUES(1,'0123456789abcdef','digits','maximize','accuracy','18446744073709551615','running',1700000000.25,12.5,0,50);
CREATE TABLE sweep_text (
  kind TEXT NOT NULL,         -- file (config, resolved), setting, origin
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
INSERT INTO sweep_text VALUES('file','config',replace('command: [python3, train.py]\n','\n',char(10)));
INSERT INTO sweep_text VALUES('file','resolved','{"command":["python3","train.py"]}');
INSERT INTO sweep_text VALUES('origin','diff','');
INSERT INTO sweep_text VALUES('origin','host','node1');
INSERT INTO sweep_text VALUES('origin','user','ada');
INSERT INTO sweep_text VALUES('setting','executor.num_samples','20');
INSERT INTO sweep_text VALUES('setting','metric','"accuracy"');
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
INSERT INTO trial VALUES(0,'pending','','',0,0,0,NULL,NULL,'missing',0,NULL,'missing',0,0,0.0,1700000001.0,NULL,NULL,NULL,0);
INSERT INTO trial VALUES(1,'pending','','',0,0,0,NULL,NULL,'missing',0,NULL,'missing',0,0,0.0,1700000001.0,NULL,NULL,NULL,1);
CREATE TABLE parameter (
  trial INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,        -- JSON
  PRIMARY KEY (trial, name)
) WITHOUT ROWID;
INSERT INTO parameter VALUES(0,'layers','3');
INSERT INTO parameter VALUES(0,'lr','0.001');
INSERT INTO parameter VALUES(1,'layers','1');
INSERT INTO parameter VALUES(1,'lr','0.01');
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
INSERT INTO run VALUES(0,0,1,1,'node1','["0","GPU-8f6d2c1a"]',1700000002.5,NULL,NULL,NULL,'',0,'','[]','');
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
INSERT INTO source VALUES(0,0,1,'report',0,2049,77,10);
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
INSERT INTO report VALUES(1,0,0,1,'report',0,10,1,0.5,'finite','{"accuracy":0.5}',1700000003.0,0.5);
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
INSERT INTO rung VALUES(0,0,0,1,0.5,'finite',1,0,0,1);
CREATE TABLE file (           -- of attempts whose folder is not kept
  trial INTEGER NOT NULL,
  run INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  name TEXT NOT NULL,
  size INTEGER NOT NULL,      -- unpacked: sqlar_uncompress(data, size)
  data BLOB NOT NULL,
  PRIMARY KEY (trial, run, attempt, name)
);
INSERT INTO file VALUES(0,0,1,'stdout.log',5,X'68656c6c6f');
CREATE TABLE event (
  number INTEGER PRIMARY KEY,
  time REAL,
  kind TEXT NOT NULL,
  trial INTEGER,
  detail TEXT NOT NULL
);
INSERT INTO event VALUES(1,1700000004.0,'launched',0,'{"attempt":1}');
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
INSERT INTO executor VALUES(1,'embedded','node1','b1',1,'{"cpus":2}',1700000000.5,NULL);
CREATE INDEX run_open ON run (trial, run, attempt) WHERE ended IS NULL;
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
COMMIT;
PRAGMA user_version = 1;

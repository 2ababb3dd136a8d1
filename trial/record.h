// What a sweep's record holds, and the changes that are made to it. The controller
// decides in memory and hands out changes; a store makes a turn's changes durable in
// one commit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trial/clock.h"
#include "trial/ids.h"
#include "trial/measurement.h"
#include "trial/objective.h"
#include "trial/param_value.h"
#include "trial/state.h"

namespace hyperopt {

enum class SweepState { kRunning, kInterrupted, kFinished, kFailed };

std::string_view ToString(SweepState state);
std::optional<SweepState> SweepStateFromString(std::string_view text);

// Facts about the sweep as a whole. `settings` holds every resolved setting that a
// resume compares, as JSON text by dotted name ("metric", "parameters",
// "executor.num_samples"). The row may be put often: a store writes config, resolved,
// settings and origin only where they differ from what it wrote last.
struct SweepRow {
  std::string id;  // 16 hex digits, random, drawn with the record
  std::string name;
  Goal goal = Goal::kMinimize;
  std::string metric;
  uint64_t seed = 0;
  SweepState state = SweepState::kRunning;
  std::string config;    // the search file as it was given
  std::string resolved;  // as resolved, JSON
  std::map<std::string, std::string> settings;
  std::map<std::string, std::string>
      origin;  // host, user, commit, branch, diff, versions, cwd
  WallTime created = 0;
  double alive_s = 0;  // time the sweep was alive, over all sessions
  // Number of the last event recorded. A store also counts the AddEvents, so the row
  // need not be put for each: what Load gives is the larger of the two.
  int64_t last_event = 0;
  int64_t extra_trials = 0;  // `resume --trials +N`, added to the plan
  bool operator==(const SweepRow&) const = default;
};

// A trial and what is derived from its reports, kept beside them so that a resume needs
// no report to be read.
struct TrialRow {
  TrialId id;
  TrialState state = TrialState::kPending;
  Reason reason = Reason::kNone;
  std::string detail;    // for a person: "exit code 3", "`loss` never came; seen: a"
  Attempt attempt;       // of the newest launch; 0 before the first
  int32_t failures = 0;  // of its own fault, counted against max_failures
  int32_t lost = 0;      // attempts lost, counted against max_lost
  std::optional<Reason> stopping;  // a committed stop whose end has not come yet
  Objective best;
  int64_t best_step = 0;
  Objective last;
  int64_t last_step = 0;
  int64_t reports = 0;   // reports that carry the objective
  double elapsed_s = 0;  // of earlier attempts, together
  WallTime created = 0;
  WallTime started = 0;  // first launch; 0 before
  WallTime ended = 0;    // 0 until finished
  std::optional<TrialId> parent;
  int64_t history = 0;  // last_event when it was proposed: what its proposal saw
  bool operator==(const TrialRow&) const = default;
};

// One launch of a run.
struct RunRow {
  RunKey key;
  ExecutorId executor;
  std::string host;
  std::vector<std::string> devices;  // as put into CUDA_VISIBLE_DEVICES, all ranks
  WallTime started = 0;
  WallTime ended = 0;  // 0 while it is not known to have ended
  std::optional<int32_t> exit_code;
  std::optional<int32_t> signal;
  std::string outcome;               // ended: "exit", "signal", "lost", "stopped", ...
  int64_t peak_memory = 0;           // bytes, of the leaders, 0 where not known
  std::string placement;             // JSON: what it holds on the executor
  std::vector<int64_t> checkpoints;  // steps of the complete ones it left, ascending
  std::string resume_from;  // the checkpoint it started from, "" for a fresh start
  bool operator==(const RunRow&) const = default;
};

struct ReportRow {
  RunKey key;
  SourceId source;
  int64_t offset = 0;  // byte after the line's end; (key, source, offset) is unique
  int64_t step = 0;
  Objective objective;  // the sweep's metric, missing where the line has none
  std::string values;   // all fields as JSON text; NaN as "NaN"; -0.0 stays so
  WallTime wall = 0;
  double elapsed_s = 0;
  bool operator==(const ReportRow&) const = default;
};

// One entry per (trial, rung) for ever, written with its verdict in the report's
// transaction.
struct RungRow {
  TrialId trial;
  int32_t bracket = 0;
  int32_t rung = 0;   // 0 is the lowest
  int64_t level = 0;  // the rung's resource
  Objective value;
  int64_t time = 0;      // the report's time, at or past the level
  bool late = false;     // passed over; excluded from every cutoff
  bool stopped = false;  // the verdict
  int64_t order = 0;     // of arrival, over all rungs
  bool operator==(const RungRow&) const = default;
};

// A file of an attempt whose folder is not kept.
struct FileRow {
  RunKey key;
  std::string name;  // in the attempt's folder: "stdout.log"
  int64_t size = 0;  // bytes of the file
  std::string data;  // packed (packed.h)
  bool operator==(const FileRow&) const = default;
};

struct EventRow {
  int64_t number = 0;  // from 1, no gaps
  WallTime wall = 0;
  std::string kind;  // "started", "launched", "ended", "stop", "executor joined", ...
  std::optional<TrialId> trial;
  std::string detail;  // JSON object or ""
  bool operator==(const EventRow&) const = default;
};

struct ExecutorRow {
  ExecutorId id;
  std::string name;
  std::string host;
  std::string boot_id;
  bool embedded = false;
  std::string resources;  // JSON: cpus, memory, devices, labels
  WallTime joined = 0;
  WallTime left = 0;  // 0 while it is expected back
  bool operator==(const ExecutorRow&) const = default;
};

// Changes. Applied in order; each names the whole row it leaves behind (level, not
// edge), so that applying one again is harmless, but for AddReport, whose key makes it
// so. All text is kept byte for byte, whatever its encoding, but for parameters and
// devices, which are UTF-8 (other bytes become U+FFFD). A time that is 0 means "not
// yet". A REAL in the record has no sign of zero: -0.0 reads back as 0.0.
struct PutSweep {
  SweepRow row;
};
struct PutTrial {
  TrialRow row;
};  // by id; inserts or replaces
struct PutParams {
  TrialId trial;
  Params params;
};  // once a trial; never changed
struct PutRun {
  RunRow row;
};  // by key
struct AddReport {
  ReportRow row;
};  // a repeated key is ignored
struct PutRung {
  RungRow row;
};  // (trial, bracket, rung)
struct PutFile {
  FileRow row;
};  // (key, name)
struct PutOffset {
  RunKey key;
  SourceOffset offset;
};
struct AddEvent {
  EventRow row;
};
struct PutExecutor {
  ExecutorRow row;
};

using RecordChange = std::variant<PutSweep,
                                  PutTrial,
                                  PutParams,
                                  PutRun,
                                  AddReport,
                                  PutRung,
                                  PutFile,
                                  PutOffset,
                                  AddEvent,
                                  PutExecutor>;

// What a starting controller loads. Reports, parameters and old events stay in the
// store and are asked for where they are needed.
struct RecordSnapshot {
  SweepRow sweep;
  std::vector<TrialRow> trials;                         // by id, no gaps from 0
  std::vector<RunRow> open_runs;                        // ended == 0
  std::map<RunKey, std::vector<SourceOffset>> offsets;  // of the open runs
  std::vector<RungRow> rungs;                           // by order
  std::vector<ExecutorRow> executors;                   // by id
  bool operator==(const RecordSnapshot&) const = default;
};

}  // namespace hyperopt

// Rows of a small sweep, for tests that need a record with something in it.
#pragma once

#include <string>
#include <vector>

#include "trial/record.h"

namespace hyperopt {

inline SweepRow SampleSweep() {
  SweepRow row;
  row.id = "0123456789abcdef";
  row.name = "digits";
  row.goal = Goal::kMaximize;
  row.metric = "accuracy";
  row.seed = 18446744073709551615u;
  row.config = "command: [python3, train.py]\n";
  row.resolved = R"({"command":["python3","train.py"]})";
  row.settings = {{"metric", "\"accuracy\""}, {"executor.num_samples", "20"}};
  row.origin = {{"host", "node1"}, {"user", "ada"}, {"diff", ""}};
  row.created = 1700000000.25;
  row.alive_s = 12.5;
  row.extra_trials = 50;
  return row;
}

inline RunKey SampleKey(int64_t trial, int32_t attempt = 1) {
  return {TrialId(trial), RunId(0), Attempt(attempt)};
}

inline TrialRow SampleTrial(int64_t id) {
  TrialRow row;
  row.id = TrialId(id);
  row.created = 1700000001.0;
  row.history = id;
  return row;
}

inline RunRow SampleRun(int64_t trial, int32_t attempt = 1) {
  RunRow row;
  row.key = SampleKey(trial, attempt);
  row.executor = ExecutorId(1);
  row.host = "node1";
  row.devices = {"0", "GPU-8f6d2c1a"};
  row.started = 1700000002.5;
  return row;
}

inline ReportRow SampleReport(int64_t trial, int64_t offset, double value) {
  ReportRow row;
  row.key = SampleKey(trial);
  row.offset = offset;
  row.step = offset / 10;
  row.objective = Objective::Of(value);
  row.values = R"({"accuracy":0.5})";
  row.wall = 1700000003.0;
  row.elapsed_s = 0.5;
  return row;
}

inline EventRow SampleEvent(int64_t number) {
  return {number, 1700000004.0, "launched", TrialId(0), R"({"attempt":1})"};
}

inline ExecutorRow SampleExecutor(int64_t id) {
  ExecutorRow row;
  row.id = ExecutorId(id);
  row.name = "embedded";
  row.host = "node1";
  row.boot_id = "b1";
  row.embedded = true;
  row.resources = R"({"cpus":2})";
  row.joined = 1700000000.5;
  return row;
}

inline std::vector<RecordChange> SampleChanges() {
  return {PutSweep{SampleSweep()},
          PutExecutor{SampleExecutor(1)},
          PutTrial{SampleTrial(0)},
          PutParams{TrialId(0), {{"lr", 0.001}, {"layers", int64_t{3}}}},
          PutTrial{SampleTrial(1)},
          PutParams{TrialId(1), {{"lr", 0.01}, {"layers", int64_t{1}}}},
          PutRun{SampleRun(0)},
          AddReport{SampleReport(0, 10, 0.5)},
          PutOffset{SampleKey(0), {SourceId(), 2049, 77, 10}},
          PutRung{{TrialId(0), 0, 0, 1, Objective::Of(0.5), 1, false, false, 1}},
          AddEvent{SampleEvent(1)}};
}

}  // namespace hyperopt

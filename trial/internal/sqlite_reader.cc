#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "trial/errors.h"
#include "trial/internal/sqlite_rows.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

constexpr std::string_view kReportColumns =
    "trial, run, attempt, source, generation, offset, step, value, value_kind, fields, "
    "time, elapsed_s";
// What a replay of all goes by: each further column costs a million reports 20 ms.
constexpr std::string_view kReplayColumns =
    "trial, run, attempt, step, value, value_kind, fields, elapsed_s";
constexpr std::string_view kRunColumns =
    "trial, run, attempt, executor, host, devices, started, ended, exit_code, signal, "
    "outcome, peak_memory, placement, checkpoints, resume_from";

RunKey ReadKey(RowReader& row) {
  RunKey key;
  key.trial = TrialId(row.Integer());
  key.run = RunId(row.Integer32());
  key.attempt = Attempt(row.Integer32());
  return key;
}

ReportRow ReadReport(RowReader& row) {
  ReportRow report;
  report.key = ReadKey(row);
  report.source.name = row.Text();
  report.source.generation = row.Integer32();
  report.offset = row.Integer();
  report.step = row.Integer();
  report.objective = row.Number();
  report.values = row.Text();
  report.wall = row.Real();
  report.elapsed_s = row.Real();
  return report;
}

std::optional<uint64_t> SeedFromString(std::string_view text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), seed);
  if (error != std::errc() || end != text.end()) return std::nullopt;
  return seed;
}

std::optional<Goal> GoalFromString(std::string_view text) {
  for (const Goal goal : {Goal::kMinimize, Goal::kMaximize}) {
    if (text == ToString(goal)) return goal;
  }
  return std::nullopt;
}

template <typename T>
std::vector<T> ListFromJson(std::string_view text) {
  if (text == "[]") return {};
  return ParseJson(text).get<std::vector<T>>();
}

}  // namespace

TrialRow ReadTrial(RowReader& row) {
  TrialRow trial;
  trial.id = TrialId(row.Integer());
  trial.state = row.Word(TrialStateFromString);
  trial.reason = row.Word(ReasonFromString);
  trial.detail = row.Text();
  trial.attempt = Attempt(row.Integer32());
  trial.failures = row.Integer32();
  trial.lost = row.Integer32();
  if (const auto stopping = row.OptionalText()) {
    trial.stopping = ReasonFromString(*stopping);
    if (!trial.stopping) row.ThrowDamaged(*stopping);
  }
  trial.best = row.Number();
  trial.best_step = row.Integer();
  trial.last = row.Number();
  trial.last_step = row.Integer();
  trial.reports = row.Integer();
  trial.elapsed_s = row.Real();
  trial.created = row.Real();
  trial.started = row.Real();
  trial.ended = row.Real();
  if (const auto parent = row.OptionalInteger()) trial.parent = TrialId(*parent);
  trial.history = row.Integer();
  return trial;
}

// JSON that does not parse is damage to the record, not the user's mistake.
template <typename Read>
auto RecordReader::GuardJson(const Read& read) const {
  try {
    return read();
  } catch (const ConfigError& error) {
    database_.ThrowDamaged(error.what());
  } catch (const nlohmann::json::exception& error) {
    database_.ThrowDamaged(error.what());
  }
}

RecordReader::RecordReader(Database& database)
    : database_(database),
      params_(database,
              "SELECT name, value FROM parameter WHERE trial = ? ORDER BY name"),
      many_params_(database,
                   "SELECT trial, name, value FROM parameter "
                   "WHERE trial BETWEEN ? AND ? ORDER BY trial, name"),
      runs_(database,
            fmt::format("SELECT {} FROM run WHERE trial = ? ORDER BY run, attempt",
                        kRunColumns)),
      reports_(database,
               fmt::format("SELECT {} FROM report WHERE trial = ? ORDER BY number",
                           kReportColumns)),
      all_reports_(
          database,
          fmt::format("SELECT {} FROM report ORDER BY number", kReplayColumns)),
      files_(database,
             "SELECT trial, run, attempt, name, size, data FROM file "
             "WHERE trial = ? ORDER BY run, attempt, name"),
      events_(database,
              "SELECT number, time, kind, trial, detail "
              "FROM event WHERE number >= ? ORDER BY number") {}

std::optional<RecordSnapshot> RecordReader::Load() {
  ReadTransaction transaction(database_);
  auto sweep = LoadSweep();
  if (!sweep) return std::nullopt;
  RecordSnapshot snapshot;
  snapshot.sweep = std::move(*sweep);
  snapshot.trials = LoadTrials();
  snapshot.rungs = LoadRungs();
  snapshot.executors = LoadExecutors();
  // CROSS JOIN: from the few open runs to their sources, whatever the planner thinks.
  Statement(database_,
            fmt::format("SELECT {} FROM run WHERE ended IS NULL "
                        "ORDER BY trial, run, attempt",
                        kRunColumns))
      .ForEach([&](RowReader row) {
        snapshot.open_runs.push_back(ReadRun(row));
        return true;
      });
  Statement(database_,
            "SELECT trial, run, attempt, name, generation, device, inode, offset "
            "FROM run CROSS JOIN source USING (trial, run, attempt) "
            "WHERE run.ended IS NULL "
            "ORDER BY trial, run, attempt, name, generation")
      .ForEach([&](RowReader row) {
        auto& offsets = snapshot.offsets[ReadKey(row)];
        SourceOffset& offset = offsets.emplace_back();
        offset.source.name = row.Text();
        offset.source.generation = row.Integer32();
        offset.device = static_cast<uint64_t>(row.Integer());
        offset.inode = static_cast<uint64_t>(row.Integer());
        offset.offset = row.Integer();
        return true;
      });
  return snapshot;
}

std::optional<SweepRow> RecordReader::LoadSweep() {
  std::optional<SweepRow> sweep;
  Statement(database_,
            "SELECT id, name, goal, metric, seed, state, created, alive_s, "
            "max(last_event, coalesce((SELECT max(number) FROM event), 0)), "
            "extra_trials FROM sweep")
      .ForEach([&](RowReader row) {
        sweep.emplace();
        sweep->id = row.Text();
        sweep->name = row.Text();
        sweep->goal = row.Word(GoalFromString);
        sweep->metric = row.Text();
        sweep->seed = row.Word(SeedFromString);
        sweep->state = row.Word(SweepStateFromString);
        sweep->created = row.Real();
        sweep->alive_s = row.Real();
        sweep->last_event = row.Integer();
        sweep->extra_trials = row.Integer();
        return false;
      });
  if (!sweep) return sweep;
  Statement(database_, "SELECT kind, name, value FROM sweep_text")
      .ForEach([&](RowReader row) {
        const std::string kind(row.Text());
        const std::string name(row.Text());
        const std::string value(row.Text());
        if (kind == "setting") sweep->settings[name] = value;
        if (kind == "origin") sweep->origin[name] = value;
        if (kind == "file")
          (name == "config" ? sweep->config : sweep->resolved) = value;
        return true;
      });
  return sweep;
}

std::vector<TrialRow> RecordReader::LoadTrials() {
  std::vector<TrialRow> trials;
  Statement(database_, fmt::format("SELECT {} FROM trial ORDER BY id", kTrialColumns))
      .ForEach([&](RowReader row) {
        trials.push_back(ReadTrial(row));
        const auto expected = static_cast<int64_t>(trials.size()) - 1;
        if (trials.back().id.value() != expected) {
          database_.ThrowDamaged(fmt::format("no trial {}", expected));
        }
        return true;
      });
  return trials;
}

std::vector<RungRow> RecordReader::LoadRungs() {
  std::vector<RungRow> rungs;
  Statement(database_,
            "SELECT trial, bracket, rung, level, value, value_kind, time, late, "
            "stopped, arrival FROM rung")
      .ForEach([&](RowReader row) {
        RungRow& rung = rungs.emplace_back();
        rung.trial = TrialId(row.Integer());
        rung.bracket = row.Integer32();
        rung.rung = row.Integer32();
        rung.level = row.Integer();
        rung.value = row.Number();
        rung.time = row.Integer();
        rung.late = row.Integer() != 0;
        rung.stopped = row.Integer() != 0;
        rung.order = row.Integer();
        return true;
      });
  std::stable_sort(rungs.begin(), rungs.end(), [](const RungRow& a, const RungRow& b) {
    return a.order < b.order;
  });
  return rungs;
}

std::vector<ExecutorRow> RecordReader::LoadExecutors() {
  std::vector<ExecutorRow> executors;
  Statement(database_,
            "SELECT id, name, host, boot_id, embedded, resources, joined, left "
            "FROM executor ORDER BY id")
      .ForEach([&](RowReader row) {
        ExecutorRow& executor = executors.emplace_back();
        executor.id = ExecutorId(row.Integer());
        executor.name = row.Text();
        executor.host = row.Text();
        executor.boot_id = row.Text();
        executor.embedded = row.Integer() != 0;
        executor.resources = row.Text();
        executor.joined = row.Real();
        executor.left = row.Real();
        return true;
      });
  return executors;
}

RunRow RecordReader::ReadRun(RowReader& row) const {
  RunRow run;
  run.key = ReadKey(row);
  run.executor = ExecutorId(row.Integer());
  run.host = row.Text();
  run.devices = GuardJson([&] { return ListFromJson<std::string>(row.Text()); });
  run.started = row.Real();
  run.ended = row.Real();
  if (const auto code = row.OptionalInteger()) run.exit_code = *code;
  if (const auto signal = row.OptionalInteger()) run.signal = *signal;
  run.outcome = row.Text();
  run.peak_memory = row.Integer();
  run.placement = row.Text();
  run.checkpoints = GuardJson([&] { return ListFromJson<int64_t>(row.Text()); });
  run.resume_from = row.Text();
  return run;
}

std::pair<std::string_view, ParamValue> RecordReader::ReadParam(RowReader& row) const {
  const std::string_view name = row.Text();
  const std::string_view value = row.Text();
  return {name, GuardJson([&] { return ParamValueFromJsonText(value); })};
}

std::vector<Params> RecordReader::LoadParams(std::span<const TrialId> trials) {
  // One walk along the table where most of it is asked for: a statement a trial costs
  // its locks each time.
  constexpr int64_t kSparse = 4;
  std::vector<Params> params(trials.size());
  if (trials.empty()) return params;
  const auto [first, last] = std::ranges::minmax(trials);
  const int64_t range = last.value() - first.value() + 1;
  if (range > kSparse * static_cast<int64_t>(trials.size())) {
    for (size_t i = 0; i < trials.size(); ++i) params[i] = LoadParams(trials[i]);
    return params;
  }
  std::vector<std::pair<TrialId, size_t>> asked;  // by trial, then place
  asked.reserve(trials.size());
  for (size_t i = 0; i < trials.size(); ++i) asked.emplace_back(trials[i], i);
  std::ranges::sort(asked);
  auto at = asked.begin();
  many_params_.ForEach(
      [&](RowReader row) {
        const TrialId trial(row.Integer());
        while (at != asked.end() && at->first < trial) ++at;
        if (at == asked.end()) return false;
        if (at->first != trial) return true;
        Params& of_trial = params[at->second];
        of_trial.insert(of_trial.end(), ReadParam(row));
        return true;
      },
      first.value(),
      last.value());
  for (size_t i = 1; i < asked.size(); ++i) {
    if (asked[i].first != asked[i - 1].first) continue;
    params[asked[i].second] = params[asked[i - 1].second];
  }
  return params;
}

Params RecordReader::LoadParams(TrialId trial) {
  Params params;
  params_.ForEach(
      [&](RowReader row) {
        params.insert(params.end(), ReadParam(row));
        return true;
      },
      trial.value());
  return params;
}

std::vector<RunRow> RecordReader::LoadRuns(TrialId trial) {
  std::vector<RunRow> runs;
  runs_.ForEach(
      [&](RowReader row) {
        runs.push_back(ReadRun(row));
        return true;
      },
      trial.value());
  return runs;
}

std::vector<ReportRow> RecordReader::LoadReports(TrialId trial) {
  std::vector<ReportRow> reports;
  reports_.ForEach(
      [&](RowReader row) {
        reports.push_back(ReadReport(row));
        return true;
      },
      trial.value());
  return reports;
}

void RecordReader::ForEachReport(const std::function<bool(const ReportRow&)>& visit) {
  ReportRow report;  // one for all: its text keeps its memory
  all_reports_.ForEach([&](RowReader row) {
    report.key = ReadKey(row);
    report.step = row.Integer();
    report.objective = row.Number();
    report.values = row.Text();
    report.elapsed_s = row.Real();
    return visit(report);
  });
}

std::vector<FileRow> RecordReader::LoadFiles(TrialId trial) {
  std::vector<FileRow> files;
  files_.ForEach(
      [&](RowReader row) {
        FileRow& file = files.emplace_back();
        file.key = ReadKey(row);
        file.name = row.Text();
        file.size = row.Integer();
        file.data = row.Text();
        return true;
      },
      trial.value());
  return files;
}

void RecordReader::ForEachEvent(int64_t first,
                                const std::function<bool(const EventRow&)>& visit) {
  events_.ForEach(
      [&](RowReader row) {
        EventRow event;
        event.number = row.Integer();
        event.wall = row.Real();
        event.kind = row.Text();
        if (const auto trial = row.OptionalInteger()) event.trial = TrialId(*trial);
        event.detail = row.Text();
        return visit(event);
      },
      first);
}

}  // namespace hyperopt

#include "search/record_start.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "executors/local_resources.h"
#include "search/amend.h"
#include "search/commands/recorded_sweep.h"
#include "search/limits.h"
#include "search/live_settings.h"
#include "search/origin.h"
#include "search/proposals.h"
#include "search/recorded_history.h"
#include "search/recorded_pieces.h"
#include "search/scheduler.h"
#include "search/snapshot.h"
#include "search/warm_start.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

SweepRow NewSweep(const SearchConfig& config) {
  SweepRow row;
  row.id = RandomHex(8);
  row.name = config.name;
  row.goal = config.goal;
  row.metric = config.metric_field();
  row.seed = config.sampler.seed;
  row.config = config.text;
  row.resolved = ResolvedJson(config);
  row.settings = ComparedSettings(config);
  row.origin = DescribeOrigin();
  if (!config.file.empty()) {
    row.origin["config_file"] = fs::absolute(config.file).string();
  }
  for (const auto& [path, hash] : config.inputs) {
    row.origin[std::string(kInputOrigin) + path] = hash;
  }
  row.created = ReadClocks().wall;
  return row;
}

bool NothingHappened(const RecordSnapshot& snapshot) {
  return snapshot.open_runs.empty() &&
         std::all_of(
             snapshot.trials.begin(), snapshot.trials.end(), [](const auto& row) {
               return row.reports == 0 && row.state == TrialState::kPending &&
                      row.attempt.value() == 0 && !IsGiven(row);
             });
}

// " (FILE was edited)" for each input that is not what the sweep began with.
std::string EditedInputs(const SweepRow& row, const SearchConfig& config) {
  std::string text;
  for (const auto& [path, hash] : config.inputs) {
    const auto old = row.origin.find(std::string(kInputOrigin) + path);
    if (old == row.origin.end() || old->second == hash) continue;
    text += fmt::format("\n  ({} was edited since)", path);
  }
  return text;
}

struct Differences {
  std::vector<std::string> applied;
  std::vector<std::string> refused;
  std::vector<std::string> incomparable;  // of the refused: also with --amend
};

Differences Compare(const std::map<std::string, std::string>& old,
                    const std::map<std::string, std::string>& now) {
  Differences differences;
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [key, value] : old) both[key].first = value;
  for (const auto& [key, value] : now) both[key].second = value;
  for (const auto& [key, values] : both) {
    if (values.first == values.second) continue;
    const auto shown = [](const std::string& text) {
      return text.empty() ? "absent" : text;
    };
    if (key.starts_with(kLive)) continue;  // no setting of a file
    const std::string line =
        fmt::format("{}: {} -> {}", key, shown(values.first), shown(values.second));
    auto& list = WhatAChangeMeans(key) == OnChange::kApplies ? differences.applied
                                                             : differences.refused;
    list.push_back(line);
    const bool amendable =
        WhatAChangeMeans(key) == OnChange::kApplies || MayBeAmended(key);
    if (!amendable) differences.incomparable.push_back(line);
  }
  return differences;
}

// The built-in trainer's file: the data set by an absolute path; under a scheduler the
// trainer does not stop by itself, and trains as long as the scheduler lets it
// (Ludwig's rule).
std::string TrainersModel(const SearchConfig& config) {
  OrderedJson model = ParseJson(config.model);
  if (!config.dataset.empty()) model["dataset"] = config.dataset.string();
  if (config.scheduler.kind == SchedulerKind::kFifo) return DumpJson(model);
  if (!model.contains("trainer") || model["trainer"].is_null()) {
    model["trainer"] = OrderedJson::object();
  }
  OrderedJson& trainer = model["trainer"];
  if (!trainer.is_object()) return DumpJson(model);
  trainer["early_stop"] = -1;
  const std::string& attr = config.scheduler.time_attr;
  const bool counts_epochs = attr == "training_iteration" || attr == "step";
  const std::optional<int64_t> max_t = MaxTime(config.scheduler);
  if (counts_epochs && max_t && !trainer.contains("epochs")) {
    trainer["epochs"] = *max_t;
  }
  return DumpJson(model);
}

void CreateRecord(const SweepFolder& folder,
                  const SearchConfig& config,
                  OpenedRecord* record) {
  record->store = OpenSqliteStore(folder.database(), StoreMode::kCreate);
  const std::vector<RecordChange> first = {PutSweep{NewSweep(config)}};
  record->store->Commit(first);
  record->snapshot = *record->store->Load();
  record->fresh = true;
}

RecordSnapshot LoadOrBegin(TrialStore& store, const SearchConfig& config) {
  std::optional<RecordSnapshot> snapshot = store.Load();
  if (!snapshot) {
    // Died between making the file and the first commit: nothing is lost by doing it
    // now.
    const std::vector<RecordChange> first = {PutSweep{NewSweep(config)}};
    store.Commit(first);
    snapshot = store.Load();
  }
  return std::move(*snapshot);
}

[[noreturn]] void RefuseEdits(const SweepFolder& folder,
                              const std::vector<std::string>& lines,
                              const std::string& inputs,
                              const std::string& ways_out) {
  throw ConfigError(
      fmt::format("{}: this sweep was started with other settings:\n  {}{}\nWays out: "
                  "put the old values back; {}give the new search another `name:` or "
                  "--output; or start over with --fresh, which keeps the old folder "
                  "under another name.",
                  folder.dir().string(),
                  fmt::join(lines, "\n  "),
                  inputs,
                  ways_out));
}

// What --amend takes of the edits; the others are refused.
void Amend(const SweepFolder& folder,
           const SearchConfig& config,
           const Differences& edits,
           OpenedRecord* record) {
  if (!edits.incomparable.empty()) {
    RefuseEdits(folder,
                edits.incomparable,
                "\n  (--amend takes parameters, search_alg and command)",
                "");
  }
  SweepRow& sweep = record->snapshot.sweep;
  const SearchConfig old = ConfigOfRecord(sweep);
  SearchConfig with_limits = config;
  SweepRow unchanged = sweep;
  ApplyLimits(&unchanged, &with_limits);
  with_limits.sampler.num_samples += sweep.extra_trials;
  std::ranges::move(BeginEra(old, with_limits, *record->store, &record->snapshot),
                    std::back_inserter(record->amended));
}

// False where the old folder was put aside, and a new sweep begins.
bool TakeUp(SweepFolder* folder,
            SearchConfig* wanted,
            OldRecord old,
            OpenedRecord* record) {
  const SearchConfig& config = *wanted;
  record->store = OpenSqliteStore(folder->database(), StoreMode::kOpen);
  record->snapshot = LoadOrBegin(*record->store, config);
  const SweepRow& sweep = record->snapshot.sweep;
  RequireOwnTrials(sweep, folder->dir());
  const Differences edits = Compare(sweep.settings, ComparedSettings(config));
  if (!edits.refused.empty() && NothingHappened(record->snapshot)) {
    record->store.reset();
    record->notes.push_back(
        "the search file was edited before anything ran: starting over, the old folder "
        "is kept in " +
        folder->StartOver().string());
    return false;
  }
  if (const SearchConfig recorded = ConfigOfRecord(sweep);
      recorded.warm_start == config.warm_start) {
    TakeWarmStart(recorded, wanted);
  } else if (old == OldRecord::kAmend) {
    record->amended = ReadWarmStart(wanted);
  }
  if (old == OldRecord::kAmend && !edits.refused.empty()) {
    Amend(*folder, config, edits, record);
  } else if (old == OldRecord::kAmend) {
    record->notes.push_back("there is nothing to amend: the search is as it was");
  } else if (!edits.refused.empty()) {
    RefuseEdits(*folder,
                edits.refused,
                EditedInputs(sweep, config),
                edits.incomparable.empty()
                    ? "go on under the new ones with --amend, which keeps the trials "
                      "so far; "
                    : "");
  }
  for (const std::string& line : edits.applied) {
    record->notes.push_back("changed: " + line);
  }
  return true;
}

// In the copy, the search file's folder and the one hyperopt was started in are where
// they are in the checkout; one outside of it stays where it is.
void RunInSnapshot(const SweepRow& sweep, const fs::path& started_in, SweepSpec* spec) {
  const auto config_dir = InSnapshot(spec->sweep_dir, sweep.origin, spec->config_dir);
  if (config_dir) spec->config_dir = config_dir->string();
  const auto workdir = InSnapshot(spec->sweep_dir, sweep.origin, started_in);
  spec->workdir = workdir ? workdir->string() : spec->config_dir;
}

// What a sampler knows where failed trials run once more.
std::vector<HistoryEntry> HistoryFor(const TrialStore& store,
                                     const SearchConfig& config,
                                     const ControllerStart& start) {
  std::vector<TrialRow> trials = start.record.trials;
  if (config.repeats > 1 && start.rerun_failed) {
    for (TrialRow& row : trials) {
      if (row.state != TrialState::kFailed) continue;
      if (!NamesAll(config.space, start.params.at(row.id))) continue;
      row.state = TrialState::kPending;
    }
  }
  return EndedHistory(store, trials, config);
}

}  // namespace

OpenedRecord OpenRecord(SweepFolder* folder, SearchConfig* wanted, OldRecord old) {
  OpenedRecord record;
  const SearchConfig& config = *wanted;
  bool exists = fs::exists(folder->database());
  std::vector<std::string> warm;
  const bool reads = !exists || old == OldRecord::kStartOver;
  // Before the old folder is renamed: it may be what is to be read, or nothing is.
  if (reads) warm = ReadWarmStart(wanted);
  if (exists && old == OldRecord::kStartOver) {
    record.notes.push_back("the old sweep is kept in " + folder->StartOver().string());
    exists = false;
  }
  if (exists) exists = TakeUp(folder, wanted, old, &record);
  if (!exists) {
    if (!reads) warm = ReadWarmStart(wanted);
    std::ranges::move(warm, std::back_inserter(record.notes));
    CreateRecord(*folder, config, &record);
  }
  SweepRow& sweep = record.snapshot.sweep;
  sweep.config = config.text;
  sweep.resolved = ResolvedJson(config);
  Settings live = SettingsBelow(sweep.settings, kLive);
  sweep.settings = ComparedSettings(config);
  sweep.settings.merge(live);
  WriteFileAtomically(
      folder->dir() / "sweep.id", sweep.id + "\n", Durability::kProcess);
  return record;
}

SweepSpec MakeSweepSpec(const SearchConfig& config,
                        const SweepRow& sweep,
                        const fs::path& sweep_dir,
                        const std::vector<std::string>& command) {
  SweepSpec spec;
  spec.sweep_id = sweep.id;
  spec.name = sweep.name;
  spec.sweep_dir = sweep_dir.string();
  spec.command = command;
  spec.model = config.command.empty() ? TrainersModel(config) : config.model;
  for (const Parameter& parameter : config.space.parameters()) {
    spec.parameter_order.push_back(parameter.name);
  }
  spec.arg_names = config.arg_names;
  // The folder that hyperopt was started in is recorded, so that a resume from anywhere
  // runs its trials in the same place.
  const auto cwd = sweep.origin.find("cwd");
  const fs::path started_in =
      cwd == sweep.origin.end() ? fs::current_path() : fs::path(cwd->second);
  spec.config_dir = config.file.empty()
                        ? started_in.string()
                        : fs::absolute(config.file).parent_path().string();
  if (config.workdir == "snapshot") {
    RunInSnapshot(sweep, started_in, &spec);
  } else if (config.workdir != "trial") {
    const fs::path place =
        config.workdir.empty() ? started_in : started_in / config.workdir;
    spec.workdir = place.string();
  }
  for (const auto& [name, entry] : config.env) {
    (entry.from_host ? spec.env_from : spec.env)[name] = entry.value;
  }
  spec.keep_env = config.keep_env;
  spec.read = config.read;
  spec.stop_signal = config.executor.stop_signal;
  spec.log_limit = config.executor.log_limit;
  spec.best_checkpoints = config.keep.best_checkpoints;
  spec.last_checkpoints = config.keep.last_checkpoints;
  spec.around = config.around;
  spec.around.gpu_memory = config.executor.resources.gpu_memory;
  return spec;
}

ControllerStart MakeControllerStart(const SearchConfig& config,
                                    OpenedRecord* record,
                                    const fs::path& sweep_dir,
                                    const std::vector<std::string>& command,
                                    const StartWants& wants) {
  const TrialStore& store = *record->store;
  ControllerStart start;
  start.record = std::exchange(record->snapshot, {});
  record->snapshot.sweep = start.record.sweep;
  start.rerun_failed = wants.rerun_failed;
  const std::vector<TrialRow>& trials = start.record.trials;
  std::vector<TrialId> runnable;
  for (const TrialRow& row : trials) {
    const bool again = wants.rerun_failed && row.state == TrialState::kFailed;
    if (!IsFinished(row.state) || again) runnable.push_back(row.id);
  }
  std::vector<Params> params = store.LoadParams(runnable);
  for (size_t i = 0; i < runnable.size(); ++i) {
    const TrialRow& row = trials[static_cast<size_t>(runnable[i].value())];
    start.params[row.id] = std::move(params[i]);
    if (row.attempt.value() == 0) continue;
    start.reports[row.id] = store.LoadReports(row.id);
    // One that failed begins afresh, without its checkpoints.
    if (!IsFinished(row.state)) start.runs[row.id] = store.LoadRuns(row.id);
  }
  start.curves = RecordedCurves(store, config, start.reports);
  if (config.scheduler.kind == SchedulerKind::kPbt) {
    start.clones = RecordedClones(store);
  }
  if (config.repeats > 1) start.configurations = ConfigurationsOf(store, trials);
  if (wants.history) start.history = HistoryFor(store, config, start);
  start.sweep = MakeSweepSpec(config, start.record.sweep, sweep_dir, command);
  return start;
}

}  // namespace hyperopt

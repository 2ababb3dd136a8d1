// The controller's beginning: what a record brings back.
#include <algorithm>
#include <charconv>

#include "search/controller.h"
#include "search/live_settings.h"
#include "search/objectives.h"
#include "search/report_time.h"

namespace hyperopt {
namespace {

// The step at the end of ".../checkpoints/<step>"; 0 for a fresh start.
int64_t StepOfCheckpoint(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return 0;
  int64_t step = 0;
  std::from_chars(path.data() + slash + 1, path.data() + path.size(), step);
  return step;
}

}  // namespace

Controller::Controller(const SearchConfig& config,
                       const Sampler& sampler,
                       Scheduler& scheduler,
                       ControllerStart start,
                       Now now)
    : config_(config),
      sampler_(&sampler),
      scheduler_(scheduler),
      metric_(config.metric_field()),
      started_(now.steady),
      last_tick_(now.steady),
      next_tick_(now.steady),
      last_executor_(now.steady),
      next_sweep_put_(now.steady) {
  timing_.heartbeat_s = config.executor.heartbeat_s;
  timing_.controller_lost_s = config.executor.controller_lost_s;
  timing_.stop_grace_s = config.executor.stop_grace_s;
  timing_.stuck_s = config.executor.stuck_s;
  Restore(std::move(start), now);
}

void Controller::Restore(ControllerStart start, Now now) {
  spec_ = std::move(start.sweep);
  sweep_ = std::move(start.record.sweep);
  sweep_.state = SweepState::kRunning;
  alive_before_ = sweep_.alive_s;
  rows_ = std::move(start.record.trials);
  history_.ended = std::move(start.history);
  for (const HistoryEntry& entry : history_.ended) {
    if (!IsFinished(Row(entry.trial).state)) rested_.insert(entry.trial);
  }
  scheduler_.Restore(start.record.rungs);
  for (const JudgedReport& each : start.curves) {
    scheduler_.Observe(each.trial, each.time, each.value);
  }
  for (const ExecutorRow& row : start.record.executors) fleet_.Restore(row, now.steady);
  for (auto& [id, params] : start.params) open_[id].params = std::move(params);
  for (const auto& [id, reports] : start.reports) RestoreCurve(id, reports);
  for (const auto& [id, clone] : start.clones) {
    const auto open = open_.find(id);
    if (open == open_.end()) continue;
    open->second.clone = clone;
    open->second.checkpoints.push_back({Attempt(0), clone.step, clone.checkpoint});
  }
  for (const auto& [id, runs] : start.runs) {
    for (const RunRow& run : runs) {
      for (int64_t step : run.checkpoints) {
        open_[id].checkpoints.push_back({run.key.attempt, step, ""});
      }
    }
  }
  for (const RungRow& rung : start.record.rungs) {
    const auto open = open_.find(rung.trial);
    if (open == open_.end()) continue;
    open->second.judged_time = std::max(open->second.judged_time, rung.time);
  }
  cursor_ = CursorAfter(CurrentEra(sweep_), rows_);
  PlanAnew();
  RestoreRepeats(std::move(start.configurations));
  paused_ = LiveSetting(sweep_.settings, kLivePaused) == "true";
  if (const std::string gpus = LiveSetting(sweep_.settings, kLiveGpus); !gpus.empty()) {
    most_gpus_ = std::stoll(gpus);
  }
  for (TrialRow& row : rows_) {
    ++CountOf(row.state);
    NoteIncumbent(row);
    if (row.state == TrialState::kPending) pending_.insert(row.id);
    if (row.state == TrialState::kPaused) scheduler_.OnPaused(row.id);
    if (IsFinished(row.state)) scheduler_.OnEnded(row.id);
  }
  for (const RunRow& row : start.record.open_runs) {
    RestoreLive(row, start, now);
  }
  over_limit_ = std::ssize(live_);
  RestoreLost(start, now);
  for (TrialRow& row : rows_) {
    // A trial that runs without a run has no one to report its end.
    if (row.state == TrialState::kRunning && !live_of_.contains(row.id)) {
      Move(
          &row, TrialState::kPending, Reason::kExecutorLost, "its launch is not known");
    }
    // One of an earlier era may lack what the search has now.
    if (start.rerun_failed && row.state == TrialState::kFailed &&
        NamesAll(config_.space, open_[row.id].params)) {
      row.failures = row.lost = 0;
      row.ended = 0;
      Move(&row, TrialState::kPending, Reason::kRerun, row.detail);
      if (race_) continue;  // the history is without it already
      std::erase_if(history_.ended,
                    [&](const auto& entry) { return entry.trial == row.id; });
    }
  }
  changes_.push_back(PutSweep{SweepNow(now)});
}

void Controller::RestoreCurve(TrialId id, const std::vector<ReportRow>& reports) {
  Curve& curve = open_[id].curve;
  for (const ReportRow& report : reports) {
    double& elapsed = open_[id].elapsed[report.key.attempt];
    elapsed = std::max(elapsed, report.elapsed_s);
    if (!config_.objectives.empty()) {
      TakeOthers(report.values, config_, &open_[id].others);
    }
    if (report.objective.missing()) continue;
    curve.Add(report.step, report.key.attempt.value(), report.objective);
  }
  curve.TakeReplaced();
}

// Attempts presumed lost and not launched again may return: from where the record
// stands.
void Controller::RestoreLost(const ControllerStart& start, Now now) {
  for (const TrialId id : pending_) {
    const TrialRow& row = Row(id);
    const auto runs = start.runs.find(id);
    if (row.reason != Reason::kExecutorLost || runs == start.runs.end()) continue;
    for (const RunRow& run : runs->second) {
      if (run.key.attempt == row.attempt) lost_[id] = MakeLive(run, start, now);
    }
  }
}

void Controller::RestoreLive(const RunRow& row, const ControllerStart& start, Now now) {
  const TrialRow& trial = Row(row.key.trial);
  if (trial.state != TrialState::kRunning || trial.attempt != row.key.attempt) return;
  live_[row.key] = MakeLive(row, start, now);
  live_of_[row.key.trial] = row.key;
  if (Member* member = fleet_.Find(row.executor)) member->runs.insert(row.key);
}

// What the record knows of an attempt that may still be running somewhere.
Controller::Live Controller::MakeLive(const RunRow& row,
                                      const ControllerStart& start,
                                      Now now) {
  Live live;
  live.row = row;
  live.placement = PlacementFromText(row.executor, row.placement);
  live.confirmed = true;
  live.sent = now.steady;
  live.launch.key = row.key;
  live.launch.resume_from = row.resume_from;
  live.launch.first_step = StepOfCheckpoint(row.resume_from);
  live.step = live.metric_step = live.launch.first_step;
  live.launch.budget = scheduler_.Budget(row.key.trial);
  live.iterations = TimeAtStep(open_[row.key.trial], live.launch.first_step);
  if (const auto at = start.record.offsets.find(row.key);
      at != start.record.offsets.end()) {
    for (const SourceOffset& offset : at->second) {
      live.offsets[offset.source.name] = offset;
    }
  }
  const auto reports = start.reports.find(row.key.trial);
  if (reports == start.reports.end()) return live;
  for (const ReportRow& report : reports->second) {
    if (report.key != row.key) continue;
    live.any_report = true;
    live.step = report.step;
    if (!report.objective.missing()) live.metric_step = report.step;
    if (IsReportedTime(config_.scheduler.time_attr)) {
      const auto time = FieldOf(report.values, config_.scheduler.time_attr);
      if (time) live.time = time;
    }
    live.max_elapsed = std::max(live.max_elapsed, report.elapsed_s);
    // An ended attempt's places are only in its reports.
    const SourceOffset at{report.source, 0, 0, report.offset};
    SourceOffset& have = live.offsets.try_emplace(report.source.name, at).first->second;
    if (PlaceOf(at) > PlaceOf(have)) have = at;
    if (report.objective.missing()) continue;
    if (report.step > live.launch.first_step) ++live.iterations;
  }
  return live;
}

}  // namespace hyperopt

#include "search/report/internal/report_source.h"

#include <algorithm>
#include <set>

#include "search/fleet.h"
#include "search/objectives.h"
#include "search/report_time.h"
#include "search/status.h"

namespace hyperopt::internal {
namespace {

double GpusOf(const RunRow& run) {
  const auto placement = PlacementFromText(run.executor, run.placement);
  double gpus = 0;
  if (!placement) return gpus;
  for (const Placement::Rank& rank : placement->ranks) {
    const auto devices = static_cast<double>(rank.devices.size());
    gpus += rank.share < Share::Whole(1) ? rank.share.AsDouble() * devices : devices;
  }
  return gpus;
}

// Several objectives, folds, a test score.
void TakeExtras(const TrialRow& row,
                const std::vector<ReportRow>& reports,
                ReportSource* source) {
  const SearchConfig& config = source->sweep->config;
  source->others.push_back(OthersOf(reports, config));
  if (!source->spread_fields.any()) return;
  const int64_t step = config.value == ValueRule::kLast ? row.last_step : row.best_step;
  source->spreads.push_back(
      row.state == TrialState::kFailed
          ? TrialSpread{}
          : SpreadOf(reports, source->spread_fields, config, step));
}

void ReadTrials(ReportSource* source) {
  const RecordedSweep& sweep = *source->sweep;
  std::vector<TrialId> ids;
  for (const TrialRow& row : source->trials()) ids.push_back(row.id);
  source->params = sweep.store->LoadParams(ids);
  size_t curves = 0;
  for (const TrialRow& row : source->trials()) curves += row.reports > 1;
  const size_t most = CurvePointsFor(curves);
  source->spread_fields =
      FindSpreadFields(*sweep.store, source->trials(), sweep.record.sweep.metric);
  for (const TrialRow& row : source->trials()) {
    const bool failed = row.state == TrialState::kFailed;
    source->values.push_back(failed ? Objective::Missing()
                                    : RankedValue(row, sweep.config.value));
    for (RunRow& run : sweep.store->LoadRuns(row.id)) {
      const bool begun = row.state != TrialState::kPending || run.ended > 0;
      if (!begun) continue;  // it stands by
      const double gpus = GpusOf(run);
      source->runs.push_back({std::move(run), gpus});
    }
    const bool all = source->spread_fields.any() || !sweep.config.objectives.empty();
    std::vector<ReportRow> reports;
    if (all || row.reports > 1) reports = sweep.store->LoadReports(row.id);
    TakeExtras(row, reports, source);
    std::vector<CurvePoint> curve;
    if (row.reports > 1) curve = CurveOf(reports);
    // A point beside the curves of others; without such it would say nothing.
    if (row.reports == 1 && curves > 0) curve = {{row.last_step, row.last}};
    source->longest = std::max<int64_t>(source->longest, std::ssize(curve));
    source->curves.push_back(Thinned(std::move(curve), most));
  }
  if (source->longest >= 2) return;
  for (auto& curve : source->curves) curve.clear();
}

void ReadPiece(const EventRow& event, ReportSource* source) {
  if (!event.trial) return;
  if (event.kind == "promoted")
    source->resumptions.push_back({*event.trial, event.wall});
  if (event.kind != "replaced") return;
  const auto number = [&](const char* name) {
    return static_cast<int64_t>(FieldOf(event.detail, name).value_or(0));
  };
  source->copies.push_back({*event.trial,
                            TrialId(number("parent")),
                            TrialId(number("replaced")),
                            number("step"),
                            event.wall});
}

// The record says when an executor joined. One that belongs to the controller joins
// again only when that has come back: since the event before it nobody was there.
void ReadEvents(ReportSource* source) {
  std::set<int64_t> embedded;
  for (const ExecutorRow& row : source->sweep->record.executors) {
    if (row.embedded) embedded.insert(static_cast<int64_t>(row.joined * 1000));
  }
  WallTime before = 0, paused = 0;
  source->sweep->store->ForEachEvent(1, [&](const EventRow& event) {
    const bool back = event.kind == "executor joined" &&
                      embedded.contains(static_cast<int64_t>(event.wall * 1000));
    if (back && before > 0) source->absences.emplace_back(before, event.wall);
    if (event.kind == "paused" && paused == 0) paused = event.wall;
    if (event.kind == "unpaused" && paused > 0) {
      source->pauses.emplace_back(paused, event.wall);
      paused = 0;
    }
    ReadPiece(event, source);
    before = event.wall;
    return true;
  });
  if (paused > 0) source->pauses.emplace_back(paused, source->until);
}

}  // namespace

size_t TextPool::Of(std::string_view text) {
  if (const auto known = places_.find(text); known != places_.end()) {
    return known->second;
  }
  texts_.emplace_back(text);
  places_.emplace(text, texts_.size() - 1);
  return texts_.size() - 1;
}

ReportSource ReadReportSource(const RecordedSweep& sweep, WallTime now) {
  ReportSource source;
  source.sweep = &sweep;
  source.begin = sweep.record.sweep.created;
  ReadTrials(&source);
  for (const TrialRow& row : source.trials()) {
    if (row.started > 0) source.begin = std::min(source.begin, row.started);
  }
  source.until = source.begin;
  for (const ReportRun& run : source.runs) {
    source.until = std::max({source.until, run.row.started, run.row.ended});
  }
  if (sweep.record.sweep.state == SweepState::kRunning) {
    source.until = std::max(source.until, now);
  }
  ReadEvents(&source);
  return source;
}

}  // namespace hyperopt::internal

#include "search/recorded_history.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "search/change_request.h"
#include "search/curve.h"
#include "search/objectives.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

bool IsState(const EventRow& event, TrialState state) {
  const std::string words = "\"state\":\"" + std::string(ToString(state)) + '"';
  return event.detail.find(words) != std::string::npos;
}

// An attempt's end leaves its trial finished, or to be tried again.
bool EndsTrial(const EventRow& event) {
  if (event.kind != "ended" || !event.trial) return false;
  return IsState(event, TrialState::kCompleted) ||
         IsState(event, TrialState::kStopped) || IsState(event, TrialState::kFailed);
}

struct Rest {
  int64_t event = 0;
  TrialId trial;
  int32_t attempt = 0;
};

std::optional<Rest> RestIn(const EventRow& event) {
  if (event.kind != "ended" || !event.trial) return std::nullopt;
  const OrderedJson json = ParseJson(event.detail);
  if (json.value("state", "") != ToString(TrialState::kPaused)) return std::nullopt;
  return Rest{event.number, *event.trial, json.value("attempt", 0)};
}

// The reports of the attempts up to this one.
std::vector<ReportRow> ReportsUpTo(const TrialStore& store,
                                   TrialId trial,
                                   int32_t attempt) {
  std::vector<ReportRow> reports = store.LoadReports(trial);
  std::erase_if(reports, [&](const ReportRow& report) {
    return report.key.attempt.value() > attempt;
  });
  return reports;
}

// The trial's row as it was then, by its reports up to then.
TrialRow RowThen(TrialId trial,
                 TrialState state,
                 const std::vector<ReportRow>& reports,
                 const SearchConfig& config) {
  TrialRow row;
  row.id = trial;
  row.state = state;
  Curve curve;
  for (const ReportRow& report : reports) {
    const Objective& value = report.objective;
    if (value.missing()) continue;
    curve.Add(report.step, report.key.attempt.value(), value);
    row.last = value;
    row.last_step = report.step;
    if (row.best.missing() || Better(config.goal, value, row.best)) {
      row.best = value;
      row.best_step = report.step;
    }
    if (!curve.TakeReplaced()) continue;
    const Curve::Best best = curve.BestOf(config.goal);
    row.best = best.value;
    row.best_step = best.step;
  }
  return row;
}

void AddRests(const TrialStore& store,
              const std::vector<Rest>& rests,
              const SearchConfig& config,
              std::vector<RecordedEnd>* ends) {
  for (const Rest& rest : rests) {
    const std::vector<TrialId> id = {rest.trial};
    const Params params = store.LoadParams(id).front();
    if (!LiesWithin(config.space, params)) continue;
    const auto reports = ReportsUpTo(store, rest.trial, rest.attempt);
    const TrialRow row = RowThen(rest.trial, TrialState::kPaused, reports, config);
    HistoryEntry entry = RestOf(row, params, config.value);
    entry.others = OthersOf(reports, config);
    ends->push_back({rest.event, std::move(entry)});
  }
  std::ranges::sort(*ends, {}, &RecordedEnd::event);
}

// What the trial had taken in its attempts up to this one; records of older versions
// say it by their runs alone.
double SecondsThen(const TrialStore& store, const EventRow& event, int32_t attempt) {
  const OrderedJson json = ParseJson(event.detail);
  if (json.contains("elapsed_s")) return json.value("elapsed_s", 0.0);
  double seconds = 0;
  for (const RunRow& run : store.LoadRuns(*event.trial)) {
    const bool counts = run.key.attempt.value() <= attempt && run.ended > 0;
    if (counts) seconds += std::max(0.0, run.ended - run.started);
  }
  return seconds;
}

// A failure, as it was before its trial was run once more.
HistoryEntry FailureThen(const TrialStore& store,
                         const EventRow& event,
                         const Params& params,
                         const SearchConfig& config) {
  const int32_t attempt = ParseJson(event.detail).value("attempt", 0);
  const auto reports = ReportsUpTo(store, *event.trial, attempt);
  const TrialRow row = RowThen(*event.trial, TrialState::kFailed, reports, config);
  return {row.id,
          row.state,
          params,
          config.value == ValueRule::kBest ? row.best : row.last,
          row.best_step,
          SecondsThen(store, event, attempt),
          OthersOf(reports, config)};
}

// What the events say of ends; details are kept of failures alone.
struct Scan {
  std::vector<EventRow> ends;
  std::vector<RecordedRerun> reruns;
  std::vector<Rest> rests;
};

Scan ReadEvents(const TrialStore& store, const SearchConfig& config) {
  Scan scan;
  std::set<TrialId> ended;
  store.ForEachEvent(1, [&](const EventRow& event) {
    if (!event.trial) return true;
    if (event.kind == "launched" && ended.erase(*event.trial) > 0) {
      scan.reruns.push_back({event.number, *event.trial});
    }
    if (EndsTrial(event)) {
      ended.insert(*event.trial);
      scan.ends.push_back(event);
      if (!IsState(event, TrialState::kFailed)) scan.ends.back().detail.clear();
    }
    if (!config.scheduler.pieces()) return true;
    if (const auto rest = RestIn(event)) scan.rests.push_back(*rest);
    return true;
  });
  return scan;
}

HistoryEntry LastWordOf(const TrialStore& store,
                        const TrialRow& row,
                        Params params,
                        const SearchConfig& config) {
  return {row.id,
          row.state,
          std::move(params),
          config.value == ValueRule::kBest ? row.best : row.last,
          row.best_step,
          row.elapsed_s,
          config.objectives.empty() ? std::vector<Objective>()
                                    : OthersOf(store.LoadReports(row.id), config)};
}

}  // namespace

Race RaceOf(std::span<const TrialRow> trials,
            const SearchConfig& config,
            TrialId from) {
  Race race(config.repeats, config.goal, from);
  for (const TrialRow& row : trials) {
    race.OnCreated(row.id, row.parent);
    const auto end = RepeatEndOf(row, config.value == ValueRule::kBest);
    if (end) race.OnEnded(row.id, *end);
  }
  return race;
}

std::map<TrialId, Params> ConfigurationsOf(const TrialStore& store,
                                           std::span<const TrialRow> trials) {
  std::vector<TrialId> ids;
  for (const TrialRow& row : trials) {
    if (!row.parent) ids.push_back(row.id);
  }
  std::vector<Params> params = store.LoadParams(ids);
  std::map<TrialId, Params> configurations;
  for (size_t i = 0; i < ids.size(); ++i) configurations[ids[i]] = std::move(params[i]);
  return configurations;
}

HistoryEntry ConfigurationEntry(const Race& race, TrialId trial, const Params& params) {
  const Standing& standing = race.Of(trial);
  HistoryEntry entry;
  entry.trial = standing.first;
  entry.params = params;
  entry.state = TrialState::kCompleted;
  if (!standing.values.empty()) entry.objective = Objective::Of(standing.mean);
  double seconds = 0;
  int64_t ended = 0;
  for (const TrialId id : standing.trials) {
    const std::optional<RepeatEnd> end = race.EndOf(id);
    if (!end) continue;
    ++ended;
    seconds += end->seconds;
    const bool stopped = end->state == TrialState::kStopped;
    // How far the one that was stopped first came says what its value is worth.
    const bool sooner = entry.state == TrialState::kCompleted || end->step < entry.step;
    if (stopped && sooner) {
      entry.state = TrialState::kStopped;
      entry.step = end->step;
    } else if (entry.state == TrialState::kCompleted && id == standing.best) {
      entry.step = end->step;
    }
  }
  if (ended > 0) entry.seconds = seconds / static_cast<double>(ended);
  if (standing.failed) entry.state = TrialState::kFailed;
  return entry;
}

void PutNewest(HistoryEntry entry, std::vector<HistoryEntry>* ended) {
  std::erase_if(*ended,
                [&](const HistoryEntry& old) { return old.trial == entry.trial; });
  ended->push_back(std::move(entry));
}

HistoryEntry RestOf(const TrialRow& row, const Params& params, ValueRule value) {
  return {row.id,
          TrialState::kPaused,
          params,
          value == ValueRule::kBest ? row.best : row.last,
          row.last_step};
}

RecordedPast ReadPast(const TrialStore& store,
                      std::span<const TrialRow> trials,
                      const SearchConfig& config) {
  Scan scan = ReadEvents(store, config);
  std::map<TrialId, int64_t> newest;
  std::vector<TrialId> ids;
  for (const EventRow& event : scan.ends) {
    newest[*event.trial] = event.number;
    ids.push_back(*event.trial);
  }
  std::vector<Params> params = store.LoadParams(ids);
  RecordedPast past;
  past.reruns = std::move(scan.reruns);
  past.ends.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const TrialRow& row = trials[static_cast<size_t>(ids[i].value())];
    // Given by hand, or of another era: a sampler learns from its own space.
    if (!LiesWithin(config.space, params[i])) continue;
    const EventRow& event = scan.ends[i];
    const bool is_last = event.number == newest[row.id] && IsFinished(row.state);
    past.ends.push_back({event.number,
                         is_last ? LastWordOf(store, row, std::move(params[i]), config)
                                 : FailureThen(store, event, params[i], config),
                         !is_last});
  }
  if (!scan.rests.empty()) AddRests(store, scan.rests, config, &past.ends);
  return past;
}

void BecomeConfigurations(std::span<const TrialRow> trials,
                          const SearchConfig& config,
                          std::vector<RecordedEnd>* ends) {
  Race race(config.repeats, config.goal, TrialId(0));
  for (const TrialRow& row : trials) race.OnCreated(row.id, row.parent);
  for (RecordedEnd& end : *ends) {
    const TrialRow& row = trials[static_cast<size_t>(end.entry.trial.value())];
    const RepeatEnd failure = {TrialState::kFailed, {}, 0, end.entry.seconds};
    race.OnEnded(
        row.id,
        end.was_rerun ? failure : *RepeatEndOf(row, config.value == ValueRule::kBest));
    end.entry = ConfigurationEntry(race, row.id, end.entry.params);
  }
}

std::vector<RecordedEnd> RecordedEnds(const TrialStore& store,
                                      std::span<const TrialRow> trials,
                                      const SearchConfig& config) {
  std::vector<RecordedEnd> ends = ReadPast(store, trials, config).ends;
  std::erase_if(ends, &RecordedEnd::was_rerun);
  if (config.repeats > 1) BecomeConfigurations(trials, config, &ends);
  return ends;
}

std::vector<HistoryEntry> EndedHistory(const TrialStore& store,
                                       std::span<const TrialRow> trials,
                                       const SearchConfig& config) {
  std::vector<HistoryEntry> history;
  for (RecordedEnd& end : RecordedEnds(store, trials, config)) {
    if (config.scheduler.pieces() || config.repeats > 1) {
      PutNewest(std::move(end.entry), &history);
    } else {
      history.push_back(std::move(end.entry));
    }
  }
  return history;
}

}  // namespace hyperopt

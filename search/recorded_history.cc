#include "search/recorded_history.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "search/change_request.h"
#include "search/curve.h"
#include "search/objectives.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

// An attempt's end leaves its trial finished, or to be tried again.
bool EndsTrial(const EventRow& event) {
  if (event.kind != "ended" || !event.trial) return false;
  for (const TrialState state :
       {TrialState::kCompleted, TrialState::kStopped, TrialState::kFailed}) {
    const std::string words = "\"state\":\"" + std::string(ToString(state)) + '"';
    if (event.detail.find(words) != std::string::npos) return true;
  }
  return false;
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

// The trial's row as it was when it came to rest, by its reports up to then.
TrialRow RowAtRest(const Rest& rest,
                   const std::vector<ReportRow>& reports,
                   const SearchConfig& config) {
  TrialRow row;
  row.id = rest.trial;
  row.state = TrialState::kPaused;
  Curve curve;
  for (const ReportRow& report : reports) {
    const Objective& value = report.objective;
    if (value.missing()) continue;
    curve.Add(report.step, report.key.attempt.value(), value);
    row.last = value;
    row.last_step = report.step;
    if (row.best.missing() || Better(config.goal, value, row.best)) row.best = value;
    if (curve.TakeReplaced()) row.best = curve.BestOf(config.goal).value;
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
    std::vector<ReportRow> reports = store.LoadReports(rest.trial);
    std::erase_if(reports, [&](const ReportRow& report) {
      return report.key.attempt.value() > rest.attempt;
    });
    const TrialRow row = RowAtRest(rest, reports, config);
    HistoryEntry entry = RestOf(row, params, config.value);
    entry.others = OthersOf(reports, config);
    ends->push_back({rest.event, std::move(entry)});
  }
  std::ranges::sort(*ends, {}, &RecordedEnd::event);
}

// A configuration stands anew each time that a repeat of it ends.
void BecomeConfigurations(std::span<const TrialRow> trials,
                          const SearchConfig& config,
                          std::vector<RecordedEnd>* ends) {
  Race race(config.repeats, config.goal, TrialId(0));
  for (const TrialRow& row : trials) race.OnCreated(row.id, row.parent);
  for (RecordedEnd& end : *ends) {
    const TrialRow& row = trials[static_cast<size_t>(end.entry.trial.value())];
    race.OnEnded(row.id, *RepeatEndOf(row, config.value == ValueRule::kBest));
    end.entry = ConfigurationEntry(race, row.id, end.entry.params);
  }
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

std::vector<RecordedEnd> RecordedEnds(const TrialStore& store,
                                      std::span<const TrialRow> trials,
                                      const SearchConfig& config) {
  // The newest: a failed trial may have been run once more.
  std::map<TrialId, int64_t> end_of;
  std::vector<Rest> rests;
  store.ForEachEvent(1, [&](const EventRow& event) {
    if (EndsTrial(event)) end_of[*event.trial] = event.number;
    if (!config.scheduler.pieces()) return true;
    if (const auto rest = RestIn(event)) rests.push_back(*rest);
    return true;
  });
  std::vector<std::pair<int64_t, TrialId>> order;
  for (const auto& [id, number] : end_of) {
    if (!IsFinished(trials[static_cast<size_t>(id.value())].state)) continue;
    order.emplace_back(number, id);
  }
  std::sort(order.begin(), order.end());
  std::vector<TrialId> ids;
  ids.reserve(order.size());
  for (const auto& [number, id] : order) ids.push_back(id);
  std::vector<Params> params = store.LoadParams(ids);
  std::vector<RecordedEnd> ends;
  ends.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const TrialRow& row = trials[static_cast<size_t>(ids[i].value())];
    // Given by hand, or of another era: a sampler learns from its own space.
    if (!LiesWithin(config.space, params[i])) continue;
    const bool best = config.value == ValueRule::kBest;
    ends.push_back(
        {order[i].first,
         {row.id,
          row.state,
          std::move(params[i]),
          best ? row.best : row.last,
          row.best_step,
          row.elapsed_s,
          config.objectives.empty() ? std::vector<Objective>()
                                    : OthersOf(store.LoadReports(row.id), config)}});
  }
  if (!rests.empty()) AddRests(store, rests, config, &ends);
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

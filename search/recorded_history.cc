#include "search/recorded_history.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "search/change_request.h"
#include "search/objectives.h"

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

}  // namespace

std::vector<RecordedEnd> RecordedEnds(const TrialStore& store,
                                      std::span<const TrialRow> trials,
                                      const SearchConfig& config) {
  // The newest: a failed trial may have been run once more.
  std::map<TrialId, int64_t> end_of;
  store.ForEachEvent(1, [&](const EventRow& event) {
    if (EndsTrial(event)) end_of[*event.trial] = event.number;
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
  return ends;
}

std::vector<HistoryEntry> EndedHistory(const TrialStore& store,
                                       std::span<const TrialRow> trials,
                                       const SearchConfig& config) {
  std::vector<HistoryEntry> history;
  for (RecordedEnd& end : RecordedEnds(store, trials, config)) {
    history.push_back(std::move(end.entry));
  }
  return history;
}

}  // namespace hyperopt

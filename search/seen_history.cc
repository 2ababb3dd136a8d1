#include "search/seen_history.h"

#include <algorithm>
#include <utility>

#include "search/change_request.h"

namespace hyperopt {

SeenHistory::SeenHistory(const TrialStore& store,
                         std::span<const TrialRow> trials,
                         const SearchConfig& config)
    : trials_(trials), config_(config), past_(ReadPast(store, trials, config)) {
  UntilNextRerun();
}

const History& SeenHistory::Before(int64_t last) {
  while (next_rerun_ < past_.reruns.size() && past_.reruns[next_rerun_].event <= last) {
    const RecordedRerun& rerun = past_.reruns[next_rerun_++];
    TakeEnds(rerun.event);
    TakeRerun(rerun);
  }
  TakeEnds(last);
  history_.pending.clear();
  for (const auto& [id, params] : open_) {
    history_.pending.push_back({.trial = id, .params = params});
  }
  return history_;
}

void SeenHistory::Add(TrialId id, const Params& params) {
  if (!LiesWithin(config_.space, params)) return;
  added_[id] = params;
  const bool ended = std::ranges::any_of(
      history_.ended, [id](const HistoryEntry& entry) { return entry.trial == id; });
  if (!ended) open_[id] = params;
}

// Its failure counts no more: what was known is told anew without it.
void SeenHistory::TakeRerun(const RecordedRerun& rerun) {
  std::erase_if(past_.ends, [&](const RecordedEnd& end) {
    return end.entry.trial == rerun.trial && end.event < rerun.event;
  });
  UntilNextRerun();
  next_ = 0;
  history_.ended.clear();
  open_ = added_;
  TakeEnds(rerun.event);
}

void SeenHistory::TakeEnds(int64_t last) {
  for (; next_ < ends_.size() && ends_[next_].event <= last; ++next_) {
    open_.erase(ends_[next_].entry.trial);
    if (config_.scheduler.pieces() || config_.repeats > 1) {
      PutNewest(ends_[next_].entry, &history_.ended);
    } else {
      history_.ended.push_back(ends_[next_].entry);
    }
  }
}

void SeenHistory::UntilNextRerun() {
  ends_ = past_.ends;
  if (next_rerun_ < past_.reruns.size()) {
    const int64_t event = past_.reruns[next_rerun_].event;
    std::erase_if(ends_, [&](const RecordedEnd& end) { return end.event > event; });
  }
  if (config_.repeats > 1) BecomeConfigurations(trials_, config_, &ends_);
}

}  // namespace hyperopt

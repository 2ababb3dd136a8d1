// What samplers learn from, out of a sweep's record.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "samplers/sampler.h"
#include "search/config.h"
#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

struct RecordedEnd {
  int64_t event = 0;  // of its commit
  HistoryEntry entry;
};

// The finished trials in the order in which their ends were committed, as the
// controller that committed them holds them. `trials` are those of the store, by id. A
// trial that the time budget ended before its first launch has no end and is not among
// them. Reads every event: for sweeps whose sampler needs its history.
std::vector<RecordedEnd> RecordedEnds(const TrialStore& store,
                                      std::span<const TrialRow> trials,
                                      const SearchConfig& config);
// The same, as samplers take it.
std::vector<HistoryEntry> EndedHistory(const TrialStore& store,
                                       std::span<const TrialRow> trials,
                                       const SearchConfig& config);

}  // namespace hyperopt

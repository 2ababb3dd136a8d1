// What each proposal of a record saw, told anew by the order of its events.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "samplers/sampler.h"
#include "search/config.h"
#include "search/recorded_history.h"
#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

// Trials that failed and were run once more were failed to whoever was proposed before
// that, and open afterwards.
class SeenHistory {
 public:
  // `trials` are those of the store, by id; they and `config` must outlive this.
  SeenHistory(const TrialStore& store,
              std::span<const TrialRow> trials,
              const SearchConfig& config);

  // Before a trial that was proposed after event `last`. REQUIRES: no earlier one than
  // before.
  const History& Before(int64_t last);
  // A trial that was proposed or given, or is a copy.
  void Add(TrialId id, const Params& params);

 private:
  void TakeRerun(const RecordedRerun& rerun);
  void TakeEnds(int64_t last);
  // Makes ends_ of what counts, up to the next rerun.
  void UntilNextRerun();

  const std::span<const TrialRow> trials_;
  const SearchConfig& config_;
  RecordedPast past_;
  size_t next_rerun_ = 0;
  std::vector<RecordedEnd> ends_;  // those that count until the next rerun
  size_t next_ = 0;
  std::map<TrialId, Params> added_;
  std::map<TrialId, Params> open_;
  History history_;
};

}  // namespace hyperopt

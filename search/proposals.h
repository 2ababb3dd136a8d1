// Which of its sampler's proposals each trial of a sweep is.
//
// Trials are numbered by their place in the record, proposals by the sampler. The two
// differ once trials were given by hand (`hyperopt add`), which are no proposals, or
// once the search was amended (--amend), which begins an era with a sampler of its own.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trial/record.h"

namespace hyperopt {

// The trials from `first` on are proposed by one and the same search file.
struct Era {
  int64_t first = 0;            // trial
  int64_t offset = 0;           // the proposal to begin with
  std::set<int64_t> skipped;    // proposals of a grid that ran in an earlier era
  std::string resolved_before;  // the search file of the era before, as resolved
  bool operator==(const Era&) const = default;
};

// Given by hand, not proposed: its proposal saw no history.
inline constexpr int64_t kGivenByHand = -1;
inline bool IsGiven(const TrialRow& row) { return row.history == kGivenByHand; }
// Of its sampler: neither given nor a copy of another trial.
inline bool IsProposed(const TrialRow& row) { return !IsGiven(row) && !row.parent; }

class ProposalCursor {
 public:
  explicit ProposalCursor(Era era);

  // What the sampler is asked for next.
  int64_t next() const { return next_; }
  // The next trial is this proposal.
  void Take();
  // How many of `count` proposals in all are not taken yet.
  int64_t Left(int64_t count) const;

 private:
  void SkipDone();

  Era era_;
  int64_t next_ = 0;
};

// Where the era of the newest trials stands after `trials`.
ProposalCursor CursorAfter(const Era& era, const std::vector<TrialRow>& trials);
// The same, by how many of the era's trials were proposed.
ProposalCursor CursorAfter(const Era& era, int64_t proposed);

// The eras of a record, oldest first; the first begins with trial 0. Throws
// EnvironmentError where the record's words are damaged.
std::vector<Era> ErasOf(const SweepRow& sweep);
Era CurrentEra(const SweepRow& sweep);
// Writes one more into the sweep's settings.
void AppendEra(const Era& era, SweepRow* sweep);

}  // namespace hyperopt

// Who stands by for the place of whom, one behind another. Knows nothing of runs but
// their keys: keeper, executor and simulation each keep one.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "trial/ids.h"

namespace hyperopt {

class StandbyRow {
 public:
  // `key` waits for the place of `before`. False where another does already: the place
  // is given to one alone.
  bool Add(const RunKey& key, const RunKey& before);
  // The place of `key`, which does not wait itself, is free: who has it now.
  std::optional<RunKey> Free(const RunKey& key);
  // `key` waits no more and never had a place: who was behind it is behind the one
  // before it now, and told.
  std::optional<RunKey> Leave(const RunKey& key);

  bool Waits(const RunKey& key) const { return before_.contains(key); }
  // REQUIRES: Waits(key).
  const RunKey& Before(const RunKey& key) const { return before_.at(key); }
  size_t size() const { return before_.size(); }
  bool empty() const { return before_.empty(); }

 private:
  std::map<RunKey, RunKey> before_;  // by who waits
  std::map<RunKey, RunKey> heirs_;   // the other way round
};

}  // namespace hyperopt

#include "executors/standby_row.h"

#include <cassert>

namespace hyperopt {

bool StandbyRow::Add(const RunKey& key, const RunKey& before) {
  if (before_.contains(key) || !heirs_.emplace(before, key).second) return false;
  before_.emplace(key, before);
  return true;
}

std::optional<RunKey> StandbyRow::Free(const RunKey& key) {
  assert(!Waits(key));
  const auto at = heirs_.find(key);
  if (at == heirs_.end()) return std::nullopt;
  const RunKey heir = at->second;
  heirs_.erase(at);
  before_.erase(heir);
  return heir;
}

std::optional<RunKey> StandbyRow::Leave(const RunKey& key) {
  const auto at = before_.find(key);
  if (at == before_.end()) return std::nullopt;
  const RunKey before = at->second;
  before_.erase(at);
  heirs_.erase(before);
  const auto behind = heirs_.find(key);
  if (behind == heirs_.end()) return std::nullopt;
  const RunKey heir = behind->second;
  heirs_.erase(behind);
  heirs_.emplace(before, heir);
  before_[heir] = before;
  return heir;
}

}  // namespace hyperopt

// A sweep as a whole, asked of its record: how many trials are in which state, the best
// one, a page of them in some order. Only what is shown is read, so that the answer
// comes as fast in a sweep of 10,000.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

enum class TrialColumn { kBest, kLast, kId, kState, kStarted, kEnded };

// Which trials, in which order; ties by id.
struct TrialsWanted {
  // A column, or the name of a parameter: numbers by size whatever their type, before
  // texts; trials without it last. By kBest and kLast the best comes first, values that
  // are not finite behind, and what failed behind all.
  std::variant<TrialColumn, std::string> order = TrialColumn::kBest;
  bool turned = false;  // the other way round
  Goal goal = Goal::kMinimize;
  std::optional<TrialState> state;
  // Trials that count as pending whatever their rows say.
  std::set<TrialId> waiting;
  bool only_ranked = false;  // those that can be the best: finite, not failed
  int64_t limit = 0;         // 0: all
};

// Not thread-safe.
class SweepQuery {
 public:
  // Opens a record beside its writer. Throws EnvironmentError as OpenSqliteStore does.
  explicit SweepQuery(const std::filesystem::path& path);
  ~SweepQuery();

  // All but the search file as it was given and `seed`. nullopt where nothing was
  // committed yet.
  std::optional<SweepRow> Sweep() const;
  std::map<TrialState, int64_t> Counts() const;
  // Trials from `first` on that saw a history and have no parent, as all that were
  // proposed.
  int64_t CountProposed(int64_t first) const;
  std::vector<TrialRow> Trials(const TrialsWanted& wanted) const;
  // The trials' parameters, in the order of `rows`.
  std::vector<Params> ParamsOf(const std::vector<TrialRow>& rows) const;
  const TrialStore& store() const { return *store_; }

 private:
  struct Connection;
  const std::unique_ptr<TrialStore> store_;
  const std::unique_ptr<Connection> connection_;
};

}  // namespace hyperopt

// One trial out of a record, asked for alone: the time it takes grows with the trial,
// not with the sweep.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

class RecordQuery {
 public:
  // Opens a record beside its writer. Throws EnvironmentError as OpenSqliteStore does.
  explicit RecordQuery(const std::filesystem::path& path);
  ~RecordQuery();

  // The sweep with the resolved file and its origin; `config` and `settings` are left
  // out. nullopt where nothing was committed yet.
  std::optional<SweepRow> Sweep() const;
  int64_t TrialCount() const;
  std::optional<TrialRow> Trial(TrialId id) const;
  std::vector<RungRow> Rungs(TrialId id) const;  // by bracket and rung
  std::optional<ExecutorRow> Executor(ExecutorId id) const;
  // LoadParams, LoadRuns and LoadReports of one trial are narrow already.
  const TrialStore& store() const { return *store_; }

 private:
  struct Statements;
  const std::unique_ptr<TrialStore> store_;
  const std::unique_ptr<Statements> statements_;
};

}  // namespace hyperopt

// A store of someone else's, for a reader that owns the one it reads.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "trial/store.h"

namespace hyperopt::testing {

// Reads `store`, which must outlive it.
class StoreView final : public TrialStore {
 public:
  explicit StoreView(const TrialStore* store) : store_(store) {}
  void Commit(std::span<const RecordChange>) override {
    throw std::logic_error("a view of a store is read only");
  }
  std::optional<RecordSnapshot> Load() const override { return store_->Load(); }
  std::vector<Params> LoadParams(std::span<const TrialId> trials) const override {
    return store_->LoadParams(trials);
  }
  std::vector<RunRow> LoadRuns(TrialId trial) const override {
    return store_->LoadRuns(trial);
  }
  std::vector<ReportRow> LoadReports(TrialId trial) const override {
    return store_->LoadReports(trial);
  }
  void ForEachReport(
      const std::function<bool(const ReportRow&)>& visit) const override {
    store_->ForEachReport(visit);
  }
  std::vector<FileRow> LoadFiles(TrialId trial) const override {
    return store_->LoadFiles(trial);
  }
  void ForEachEvent(int64_t first,
                    const std::function<bool(const EventRow&)>& visit) const override {
    store_->ForEachEvent(first, visit);
  }
  const std::vector<std::string>& notes() const override { return store_->notes(); }

 private:
  const TrialStore* store_;
};

}  // namespace hyperopt::testing

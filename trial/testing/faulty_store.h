// A store whose disk is full now and then, for tests of those who must live with that.
#pragma once

#include <memory>
#include <utility>

#include "trial/errors.h"
#include "trial/store.h"

namespace hyperopt {

// Which commits fail, counted from 1 over the life of the FaultyStore; every failing
// call counts, so a caller that repeats one meets the next number.
struct Faults {
  int64_t every = 0;  // each n-th; 0: none
  int64_t first = 0;  // from this one ...
  int64_t last = 0;   // ... to this one; first = 0: none
};

// Keeps the contract: a commit that fails leaves nothing in the store below, one that
// does not is passed on whole. Reads never fail.
class FaultyStore final : public TrialStore {
 public:
  FaultyStore(std::unique_ptr<TrialStore> store, Faults faults)
      : store_(std::move(store)), faults_(faults) {}

  void Commit(std::span<const RecordChange> changes) override {
    ++commits_;
    const bool in_range =
        faults_.first > 0 && commits_ >= faults_.first && commits_ <= faults_.last;
    if (in_range || (faults_.every > 0 && commits_ % faults_.every == 0)) {
      ++failed_;
      throw EnvironmentError("faulty store: the disk is full");
    }
    store_->Commit(changes);
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

  void set_faults(Faults faults) { faults_ = faults; }
  int64_t commits() const { return commits_; }  // calls, failed ones too
  int64_t failed() const { return failed_; }
  TrialStore& store() { return *store_; }

 private:
  std::unique_ptr<TrialStore> store_;
  Faults faults_;
  int64_t commits_ = 0;
  int64_t failed_ = 0;
};

}  // namespace hyperopt

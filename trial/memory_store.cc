#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "trial/store.h"

namespace hyperopt {
namespace {

class MemoryStore final : public TrialStore {
 public:
  void Commit(std::span<const RecordChange> changes) override {
    for (const RecordChange& change : changes) {
      std::visit([this](const auto& kind) { Put(kind); }, change);
    }
  }

  std::optional<RecordSnapshot> Load() const override {
    if (!sweep_) return std::nullopt;
    RecordSnapshot snapshot;
    snapshot.sweep = *sweep_;
    if (!events_.empty()) {
      snapshot.sweep.last_event = std::max(sweep_->last_event, events_.rbegin()->first);
    }
    for (const auto& [id, trial] : trials_) {
      snapshot.trials.push_back(trial.row);
      for (const auto& [key, run] : trial.runs) {
        if (run.ended != 0) continue;
        snapshot.open_runs.push_back(run);
        const auto offsets = trial.offsets.find(key);
        if (offsets == trial.offsets.end()) continue;
        for (const auto& [source, offset] : offsets->second) {
          snapshot.offsets[key].push_back(offset);
        }
      }
    }
    for (const auto& [key, rung] : rungs_) snapshot.rungs.push_back(rung);
    std::stable_sort(
        snapshot.rungs.begin(),
        snapshot.rungs.end(),
        [](const RungRow& a, const RungRow& b) { return a.order < b.order; });
    for (const auto& [id, executor] : executors_)
      snapshot.executors.push_back(executor);
    return snapshot;
  }

  std::vector<Params> LoadParams(std::span<const TrialId> trials) const override {
    std::vector<Params> params;
    for (const TrialId id : trials) {
      const Trial* trial = Find(id);
      params.push_back(trial ? trial->params : Params());
    }
    return params;
  }

  std::vector<RunRow> LoadRuns(TrialId id) const override {
    std::vector<RunRow> runs;
    if (const Trial* trial = Find(id)) {
      for (const auto& [key, run] : trial->runs) runs.push_back(run);
    }
    return runs;
  }

  std::vector<ReportRow> LoadReports(TrialId id) const override {
    const Trial* trial = Find(id);
    return trial ? trial->reports : std::vector<ReportRow>();
  }

  void ForEachReport(
      const std::function<bool(const ReportRow&)>& visit) const override {
    for (const auto& [trial, index] : report_order_) {
      if (!visit(trials_.at(trial).reports[index])) return;
    }
  }

  std::vector<FileRow> LoadFiles(TrialId id) const override {
    std::vector<FileRow> files;
    if (const Trial* trial = Find(id)) {
      for (const auto& [name, file] : trial->files) files.push_back(file);
    }
    return files;
  }

  void ForEachEvent(int64_t first,
                    const std::function<bool(const EventRow&)>& visit) const override {
    for (auto it = events_.lower_bound(first); it != events_.end(); ++it) {
      if (!visit(it->second)) return;
    }
  }

  const std::vector<std::string>& notes() const override { return notes_; }

 private:
  using ReportKey = std::tuple<RunKey, SourceId, int64_t>;

  struct Trial {
    TrialRow row;
    Params params;
    std::map<RunKey, RunRow> runs;
    std::map<RunKey, std::map<SourceId, SourceOffset>> offsets;
    std::vector<ReportRow> reports;
    std::set<ReportKey> report_keys;
    std::map<std::pair<RunKey, std::string>, FileRow> files;
  };

  const Trial* Find(TrialId id) const {
    const auto it = trials_.find(id);
    return it == trials_.end() ? nullptr : &it->second;
  }

  void Put(const PutSweep& change) { sweep_ = change.row; }
  void Put(const PutTrial& change) { trials_[change.row.id].row = change.row; }
  void Put(const PutParams& change) { trials_[change.trial].params = change.params; }
  void Put(const PutRun& change) {
    trials_[change.row.key.trial].runs[change.row.key] = change.row;
  }
  void Put(const AddReport& change) {
    const ReportRow& row = change.row;
    Trial& trial = trials_[row.key.trial];
    if (trial.report_keys.emplace(row.key, row.source, row.offset).second) {
      report_order_.emplace_back(row.key.trial, trial.reports.size());
      trial.reports.push_back(row);
    }
  }
  void Put(const PutRung& change) {
    const RungRow& row = change.row;
    rungs_[{row.trial, row.bracket, row.rung}] = row;
  }
  void Put(const PutFile& change) {
    const FileRow& row = change.row;
    trials_[row.key.trial].files[{row.key, row.name}] = row;
  }
  void Put(const PutOffset& change) {
    trials_[change.key.trial].offsets[change.key][change.offset.source] = change.offset;
  }
  void Put(const AddEvent& change) { events_[change.row.number] = change.row; }
  void Put(const PutExecutor& change) { executors_[change.row.id] = change.row; }

  std::optional<SweepRow> sweep_;
  std::map<TrialId, Trial> trials_;
  std::vector<std::pair<TrialId, size_t>> report_order_;
  std::map<std::tuple<TrialId, int32_t, int32_t>, RungRow> rungs_;
  std::map<int64_t, EventRow> events_;
  std::map<ExecutorId, ExecutorRow> executors_;
  std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<TrialStore> NewMemoryStore() { return std::make_unique<MemoryStore>(); }

}  // namespace hyperopt

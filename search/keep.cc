#include "search/keep.h"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "search/internal/trial_files.h"
#include "search/status.h"
#include "trial/errors.h"
#include "trial/failpoint.h"
#include "trial/state.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// What is packed and waits for a commit; more than a turn's worth stands still.
constexpr size_t kMostWaiting = 32 << 20;
constexpr size_t kMostATurn = 8 << 20;

enum class JobKind { kPack, kDrop, kDropLogs };
struct Job {
  JobKind kind;
  TrialId trial;
  bool logs = false;  // kPack: logs too
};
struct Packed {
  TrialId trial;
  std::vector<FileRow> files;
  size_t bytes = 0;
};

size_t BytesOf(const std::vector<FileRow>& files) {
  size_t bytes = 0;
  for (const FileRow& file : files) bytes += file.data.size();
  return bytes;
}

// The thread that knows the files.
class Worker {
 public:
  explicit Worker(fs::path dir) : dir_(std::move(dir)) {
    // Signals are the loop's.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { Run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void Add(Job job) {
    {
      const std::lock_guard lock(mutex_);
      // What is in the record goes first: it frees the disk.
      job.kind == JobKind::kDrop ? jobs_.push_front(job) : jobs_.push_back(job);
    }
    changed_.notify_all();
  }
  // Waits for one, where `wait_s` is above 0 and there is something to wait for.
  std::optional<Packed> Take(double wait_s) {
    std::unique_lock lock(mutex_);
    const auto come = [this] { return !packed_.empty() || (jobs_.empty() && !busy_); };
    if (wait_s > 0) {
      done_.wait_for(lock, std::chrono::duration<double>(wait_s), come);
    }
    if (packed_.empty()) return std::nullopt;
    Packed packed = std::move(packed_.front());
    packed_.pop_front();
    waiting_ -= packed.bytes;
    changed_.notify_all();
    return packed;
  }
  bool idle() const {
    const std::lock_guard lock(mutex_);
    return jobs_.empty() && packed_.empty() && !busy_;
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      busy_ = false;
      done_.notify_all();
      changed_.wait(lock, [this] {
        const bool can = !jobs_.empty() && (jobs_.front().kind == JobKind::kDrop ||
                                            waiting_ < kMostWaiting);
        return over_ || can;
      });
      if (over_) return;
      const Job job = jobs_.front();
      jobs_.pop_front();
      busy_ = true;
      lock.unlock();
      std::optional<Packed> packed = Do(job);
      lock.lock();
      if (!packed) continue;
      waiting_ += packed->bytes;
      packed_.push_back(*std::move(packed));
    }
  }

  std::optional<Packed> Do(const Job& job) const {
    try {
      switch (job.kind) {
        case JobKind::kPack: {
          std::vector<FileRow> files = internal::PackTrial(dir_, job.trial, job.logs);
          const size_t bytes = BytesOf(files);
          return Packed{job.trial, std::move(files), bytes};
        }
        case JobKind::kDrop:
          Failpoint("keep.before_drop");
          internal::DropTrial(dir_, job.trial);
          break;
        case JobKind::kDropLogs:
          internal::DropLogs(dir_, job.trial);
          break;
      }
    } catch (const std::exception&) {
      // Unreadable: the folder stays as it is, and the next start tries again.
    }
    return std::nullopt;
  }

  const fs::path dir_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, done_;
  std::deque<Job> jobs_;
  std::deque<Packed> packed_;
  size_t waiting_ = 0;
  bool busy_ = false;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace

struct FileKeeper::Impl {
  Impl(const SearchConfig& config, const fs::path& dir, const TrialStore* the_store)
      : rules(config.keep),
        goal(config.goal),
        value(config.value),
        copies(config.scheduler.kind == SchedulerKind::kPbt || config.repeats > 1),
        search(config),
        store(the_store),
        worker(dir) {}

  bool StaysByRule(TrialState state) const {
    return rules.folders == KeepFolders::kAll ||
           (rules.folders == KeepFolders::kFailed && state == TrialState::kFailed);
  }
  bool LogsStay(TrialState state) const {
    return rules.logs == KeepLogs::kAll ||
           (rules.logs == KeepLogs::kFailed && state == TrialState::kFailed);
  }
  bool Ranks(const TrialRow& row) const {
    return row.state != TrialState::kFailed && RankedValue(row, value).finite();
  }
  bool IsBetter(const TrialRow& row, const TrialRow& than) const {
    const Objective& a = RankedValue(row, value);
    const Objective& b = RankedValue(than, value);
    if (Better(goal, a, b)) return true;
    // As FindBest has it: of equal ones the first.
    return !Better(goal, b, a) && row.id < than.id;
  }

  void NoteRow(const TrialRow& row) {
    if (search.repeats == 1) return;
    const auto index = static_cast<size_t>(row.id.value());
    if (index >= rows.size()) rows.resize(index + 1);
    rows[index] = row;
  }
  // Once all is over: the best trial of the best configuration.
  void SettleBest() {
    if (search.repeats == 1) return;
    const TrialRow* found = FindBest(rows, search);
    best = found == nullptr ? std::nullopt : std::optional(*found);
    if (!best || StaysByRule(best->state)) return;
    std::erase_if(later, [&](const TrialRow& row) { return row.id == best->id; });
  }
  void NoteEnd(const TrialRow& row) {
    if (search.repeats > 1) return later.push_back(row);
    if (Ranks(row) && (!best || best->id == row.id || IsBetter(row, *best))) {
      if (best && best->id != row.id) Tidy(*best);
      best = row;
      if (!StaysByRule(row.state)) return;
    }
    Tidy(row);
  }
  void Tidy(const TrialRow& row) {
    if (copies && !over) return later.push_back(row);
    const bool logs = LogsStay(row.state);
    if (!StaysByRule(row.state)) {
      worker.Add({JobKind::kPack, row.id, logs});
    } else if (!logs) {
      worker.Add({JobKind::kDropLogs, row.id});
    }
  }

  void Take(Packed packed, std::vector<RecordChange>* changes) {
    std::set<RunKey> there;
    for (FileRow& file : packed.files) {
      there.insert(file.key);
      changes->push_back(PutFile{std::move(file)});
    }
    // A checkpoint that goes with its folder is nothing to resume from any more.
    for (RunRow& run : store->LoadRuns(packed.trial)) {
      if (run.checkpoints.empty() || !there.contains(run.key)) continue;
      run.checkpoints.clear();
      changes->push_back(PutRun{run});
    }
    to_drop.push_back(packed.trial);
  }

  const KeepRules rules;
  const Goal goal;
  const ValueRule value;
  // A trial may be a copy of one that is finished, or the best because others are not:
  // all stay until the sweep is over.
  const bool copies;
  const SearchConfig search;
  std::vector<TrialRow> rows;  // where configurations are repeated: all
  bool over = false;
  std::vector<TrialRow> later;
  const TrialStore* store;
  std::optional<TrialRow> best;  // of the finished ones
  std::vector<TrialRow> ended;   // in the commit that comes
  std::vector<TrialId> to_drop;  // packed in the commit that comes
  Worker worker;
};

FileKeeper::FileKeeper(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FileKeeper::~FileKeeper() = default;

std::unique_ptr<FileKeeper> FileKeeper::Make(const SearchConfig& config,
                                             const fs::path& sweep_dir,
                                             const std::vector<TrialRow>& trials,
                                             const TrialStore* store) {
  const KeepRules& rules = config.keep;
  if (rules.folders == KeepFolders::kAll && rules.logs == KeepLogs::kAll)
    return nullptr;
  std::unique_ptr<FileKeeper> keeper(
      new FileKeeper(std::make_unique<Impl>(config, sweep_dir, store)));
  Impl& self = *keeper->impl_;
  for (const TrialRow& row : trials) {
    self.NoteRow(row);
    if (config.repeats == 1 && IsFinished(row.state) && self.Ranks(row) &&
        (!self.best || self.IsBetter(row, *self.best))) {
      self.best = row;
    }
  }
  for (const TrialId id : internal::TrialsWithFolder(sweep_dir)) {
    if (static_cast<size_t>(id.value()) >= trials.size()) continue;
    const TrialRow& row = trials[static_cast<size_t>(id.value())];
    if (!IsFinished(row.state)) continue;
    const bool is_best = self.best && self.best->id == id;
    if (!is_best || self.StaysByRule(row.state)) self.Tidy(row);
  }
  return keeper;
}

void FileKeeper::AddTo(std::vector<RecordChange>* changes) {
  for (const RecordChange& change : *changes) {
    const auto* put = std::get_if<PutTrial>(&change);
    if (put != nullptr) impl_->NoteRow(put->row);
    if (put != nullptr && IsFinished(put->row.state)) impl_->ended.push_back(put->row);
    const auto* sweep = std::get_if<PutSweep>(&change);
    if (sweep != nullptr) impl_->over = sweep->row.state == SweepState::kFinished;
  }
  size_t bytes = 0;
  while (bytes < kMostATurn) {
    std::optional<Packed> packed = impl_->worker.Take(0);
    if (!packed) return;
    bytes += packed->bytes;
    impl_->Take(*std::move(packed), changes);
  }
}

void FileKeeper::Committed() {
  for (const TrialRow& row : std::exchange(impl_->ended, {})) impl_->NoteEnd(row);
  if (impl_->over) {
    impl_->SettleBest();
    for (const TrialRow& row : std::exchange(impl_->later, {})) impl_->Tidy(row);
  }
  for (const TrialId id : std::exchange(impl_->to_drop, {})) {
    impl_->worker.Add({JobKind::kDrop, id});
  }
}

void FileKeeper::Finish(TrialStore* store, const std::function<bool()>& go_on) {
  constexpr double kLookEveryS = 0.1;
  while (go_on() && !impl_->worker.idle()) {
    std::optional<Packed> packed = impl_->worker.Take(kLookEveryS);
    if (!packed) continue;
    std::vector<RecordChange> changes;
    impl_->Take(*std::move(packed), &changes);
    if (!changes.empty()) store->Commit(changes);
    Committed();
  }
}

}  // namespace hyperopt

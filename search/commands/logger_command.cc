#include "search/commands/logger_command.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/commands/export_common.h"
#include "search/commands/logger_life.h"
#include "search/commands/mlflow_log.h"
#include "search/commands/tensorboard_log.h"
#include "search/loggers.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// Of one reading of the record, which is then closed: a server may take its time.
constexpr size_t kMostTrials = 256;
constexpr int64_t kMostReports = 50'000;
constexpr double kLook_s = 1;
// Time of a processor is followed by a rest of so many times that.
constexpr double kRest = 9;
constexpr double kMostRest_s = 30;
constexpr double kMostPause_s = 60;
constexpr int kPatience_s = 20;
constexpr int64_t kRefusalsTold = 3;

double ProcessorTime_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

class Logger {
 public:
  Logger(fs::path dir, size_t number)
      : dir_(std::move(dir)), number_(number), life_([this] { return Missing(); }) {}

  int Run() {
    while (true) {
      const bool last = life_.ending();
      if (last) stamp_.clear();  // whatever the file system's clock says
      const bool well = Round();
      if (last && (well || was_in_trouble_)) break;
      was_in_trouble_ = !well;
      if (well && life_.ending()) continue;  // it came meanwhile
      life_.Sleep(well ? Rest_s() : Pause_s());
    }
    const std::string missing = Missing();
    if (!missing.empty()) life_.Tell('!', missing);
    if (refusals_ > kRefusalsTold) {
      life_.Tell('!', fmt::format("{} refusals in all", refusals_));
    }
    return missing.empty() && refusals_ == 0 ? 0 : 1;
  }

 private:
  // What a trial is known by once all of it is there.
  struct Done {
    TrialState state;
    Attempt attempt;
    int64_t reports = 0;
    WallTime ended = 0;
    bool operator==(const Done&) const = default;
  };
  static Done DoneOf(const TrialRow& row) {
    return {row.state, row.attempt, row.reports, row.ended};
  }

  // False where it met trouble.
  bool Round() {
    try {
      BringAll();
    } catch (const std::exception& error) {
      Complain(error.what());
      return false;
    }
    if (in_trouble_.exchange(false)) life_.Tell(' ', "it goes on");
    pause_s_ = 0;
    return true;
  }

  void BringAll() {
    if (!lock_) TakeLock();
    const std::string stamp = RecordStamp(dir_);
    spent_s_ = 0;
    if (stamp == stamp_) return;
    under_way_ = true;
    const double began = ProcessorTime_s();
    for (size_t next = 0;;) {
      const std::vector<LoggedTrial> batch = ReadSome(&next);
      for (const LoggedTrial& trial : batch) {
        Bring(trial);
        --behind_;
      }
      if (next == 0) break;
    }
    stamp_ = stamp;
    under_way_ = false;
    spent_s_ = ProcessorTime_s() - began;
  }

  // One of an earlier controller may not be quite gone.
  void TakeLock() {
    const RecordedSweep sweep = ReadSweep(dir_);
    if (number_ >= sweep.config.loggers.size()) {
      throw ConfigError("the search file in the record has no such logger");
    }
    entry_ = sweep.config.loggers[number_];
    is_server_ = entry_.kind == LoggerKind::kMlflow;
    const std::string place =
        entry_.dir.string() + ' ' + MlflowUriOf(entry_) + ' ' + entry_.experiment;
    const fs::path file = dir_ / fmt::format(".{}-{:08x}.lock",
                                             ToString(entry_.kind),
                                             HashText(place) & 0xffffffff);
    lock_ = FileLock::TryAcquire(file);
    if (!lock_) throw EnvironmentError("another process logs there: " + file.string());
  }

  // From trial `*next` on, as many as is wise; 0 in it says that these were the last.
  std::vector<LoggedTrial> ReadSome(size_t* next) {
    const RecordedSweep sweep = ReadSweep(dir_);
    // Begun anew in the same folder: another logger's business.
    if (!id_.empty() && id_ != sweep.record.sweep.id) std::_Exit(0);
    id_ = sweep.record.sweep.id;
    const std::vector<TrialRow>& rows = sweep.record.trials;
    if (*next == 0) {
      behind_ = std::ranges::count_if(
          rows, [this](const TrialRow& row) { return IsWanted(row); });
    }
    if (!log_) Open(sweep);
    std::vector<const TrialRow*> wanted;
    int64_t reports = 0;
    for (; *next < rows.size() && wanted.size() < kMostTrials && reports < kMostReports;
         ++*next) {
      if (!IsWanted(rows[*next])) continue;
      wanted.push_back(&rows[*next]);
      reports += rows[*next].reports;
    }
    if (*next >= rows.size()) *next = 0;
    std::vector<LoggedTrial> batch;
    ForTrials(sweep, wanted, [&](TrialRecord trial) {
      batch.push_back(LoggedTrialOf(sweep, std::move(trial)));
    });
    return batch;
  }

  bool IsWanted(const TrialRow& row) const {
    const auto done = done_.find(row.id);
    if (done != done_.end()) return done->second != DoneOf(row);
    return row.state != TrialState::kPending || row.attempt.value() > 0;
  }

  void Open(const RecordedSweep& sweep) {
    LoggedSweep logged = LoggedSweepOf(sweep);
    if (entry_.kind == LoggerKind::kTensorboard) {
      fs::path folder = TensorboardFolderOf(entry_, dir_);
      // That folder may hold other sweeps, and this one begun anew.
      if (!entry_.dir.empty()) {
        folder /= fmt::format("{}-{}", logged.name, logged.id.substr(0, 8));
      }
      log_ = std::make_unique<TensorboardLog>(
          std::move(logged), folder, TensorboardLog::Ends::kFinished);
    } else {
      const std::string experiment = MlflowExperimentOf(entry_, logged.name);
      client_ = std::make_unique<MlflowClient>(MlflowUriOf(entry_), kPatience_s);
      log_ = std::make_unique<MlflowLog>(std::move(logged), experiment, client_.get());
    }
    if (std::exchange(opened_, true)) return;
    const std::string at =
        entry_.kind == LoggerKind::kMlflow ? " at " + MlflowUriOf(entry_) : "";
    life_.Tell(' ', log_->Where() + at);
  }

  void Bring(const LoggedTrial& trial) {
    try {
      log_->Put(trial);
    } catch (const RefusedTrial& refusal) {
      // It is tried again when there is news of it.
      if (++refusals_ <= kRefusalsTold) life_.Tell('!', refusal.what());
      done_[trial.row.id] = DoneOf(trial.row);
      return;
    }
    if (IsFinished(trial.row.state)) done_[trial.row.id] = DoneOf(trial.row);
  }

  // What the other side has is asked for anew: an answer that did not come says
  // nothing.
  void Complain(const std::string& why) {
    log_.reset();
    pause_s_ = std::clamp(2 * pause_s_, 1.0, kMostPause_s);
    if (in_trouble_.exchange(true)) return;
    life_.Tell('!',
               why + (life_.ending() ? "; this is tried again"
                                     : "; the sweep goes on, and this is tried again"));
  }

  // Any thread.
  std::string Missing() const {
    const int64_t behind = behind_;
    // Of a server that is slow to answer nobody knows yet how much there is.
    if (behind == 0 && !in_trouble_ && !under_way_) return "";
    const char* later =
        is_server_ ? "hyperopt export --format mlflow" : "the next start of the sweep";
    return fmt::format("{} trials are not complete there; {} brings the rest",
                       behind == 0 ? "some" : std::to_string(behind),
                       later);
  }

  double Rest_s() const { return std::clamp(kRest * spent_s_, kLook_s, kMostRest_s); }
  double Pause_s() const { return pause_s_; }

  const fs::path dir_;
  const size_t number_;
  LoggerEntry entry_;
  std::string id_;  // of the sweep
  std::optional<FileLock> lock_;
  std::unique_ptr<MlflowClient> client_;
  std::unique_ptr<TrialLog> log_;
  std::map<TrialId, Done> done_;
  std::string stamp_;  // of the record when all of it was brought
  double spent_s_ = 0;
  double pause_s_ = 0;
  bool opened_ = false;
  bool was_in_trouble_ = false;
  int64_t refusals_ = 0;
  std::atomic<bool> is_server_ = false;
  std::atomic<bool> in_trouble_ = false;
  std::atomic<bool> under_way_ = false;  // something is not brought, or may not be
  std::atomic<int64_t> behind_ = 0;
  LoggerLife life_;
};

}  // namespace

int LoggerCommand(const LoggerCommandOptions& options) {
  signal(SIGPIPE, SIG_IGN);
  // Nothing that the controller had open is any business of this process.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  setpriority(PRIO_PROCESS, 0, 10);
  Logger logger(options.dir, options.number);
  std::_Exit(logger.Run());  // under the thread that listens
}

}  // namespace hyperopt

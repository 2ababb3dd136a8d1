#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "executors/attempt_folder.h"
#include "search/commands/log_copy.h"
#include "search/commands/logs.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/trial_facts.h"
#include "search/outcome.h"
#include "search/sweep_folder.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr int kLookEveryMs = 100;
constexpr int kAskEvery = 5;  // looks at the files between two at the record

std::string LogName(const char* stream, int rank) {
  return rank == 0 ? fmt::format("{}.log", stream)
                   : fmt::format("{}.{}.log", stream, rank);
}

// The logs of one attempt that are asked for.
class AttemptLogs {
 public:
  // `kept` is what the record has of a trial whose folder is gone.
  AttemptLogs(const fs::path& folder,
              const RunKey& key,
              const std::vector<FileRow>& kept,
              const LogsOptions& options) {
    const auto add = [&](const char* stream, int to) {
      const std::string name = LogName(stream, options.rank);
      if (const auto text = KeptFile(kept, key, name)) {
        copies_.emplace_back(InMemory(*text), to);
      } else {
        copies_.emplace_back(folder / name, to);
      }
    };
    const bool both = options.only_stdout == options.only_stderr;
    if (both || options.only_stdout) add("stdout", STDOUT_FILENO);
    if (both || options.only_stderr) {
      add("stderr", both ? STDERR_FILENO : STDOUT_FILENO);
    }
    if (!options.tail) return;
    for (LogCopy& copy : copies_) copy.SkipToTail(*options.tail);
  }

  LogCopy::Result CopyNew() {
    LogCopy::Result result = LogCopy::Result::kNothing;
    for (LogCopy& copy : copies_) {
      result = std::max(result, copy.CopyNew());
    }
    return result;
  }

 private:
  std::vector<LogCopy> copies_;
};

const RunRow* RunOf(const std::vector<RunRow>& runs, std::optional<int32_t> attempt) {
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (!attempt || run->key.attempt == Attempt(*attempt)) return &*run;
  }
  return nullptr;
}

void RequireLogs(const fs::path& folder,
                 const std::vector<FileRow>& kept,
                 const LogsOptions& options,
                 const RunRow& run) {
  const auto is_kept = [&](const std::string& name) {
    return std::ranges::any_of(kept, [&](const FileRow& file) {
      return file.key == run.key && file.name == name;
    });
  };
  if (is_kept(LogName("stdout", options.rank))) return;
  if (is_kept(kReportFile)) {
    throw ConfigError(fmt::format(
        "the logs of {} of trial {} were not kept: the search file says keep: {{logs: "
        "...}}",
        is_kept(LogName("stdout", 0))
            ? fmt::format("rank {}", options.rank)
            : fmt::format("attempt {}", run.key.attempt.value()),
        options.trial));
  }
  if (fs::exists(folder / LogName("stdout", options.rank))) return;
  if (options.rank > 0 && fs::exists(folder / LogName("stdout", 0))) {
    throw ConfigError(fmt::format("there is no rank {} in attempt {} of trial {}",
                                  options.rank,
                                  run.key.attempt.value(),
                                  options.trial));
  }
  // It may just be started.
  if (fs::exists(folder) || (options.follow && run.ended == 0)) return;
  throw ConfigError(fmt::format(
      "{}: not here; attempt {} of trial {} ran on {}, which does not share "
      "this folder or has not made it yet",
      folder.string(),
      run.key.attempt.value(),
      options.trial,
      run.host));
}

void Say(const std::string& line) {
  std::fprintf(stderr, "hyperopt: %s\n", line.c_str());
}

class Follower {
 public:
  Follower(const fs::path& dir, const LogsOptions& options)
      : dir_(dir), options_(options), query_(OpenQuery(dir)) {}

  int Run() {
    TrialRow row = TrialOf(query_, id());
    if (!StartAttempt(row) && !options_.follow) {
      throw ConfigError(fmt::format("{}; it has printed nothing", StateText(row)));
    }
    for (;;) {
      // The record before the files: what an end that is recorded left is all there.
      row = TrialOf(query_, id());
      const bool over = IsOver(row);
      for (int look = 0; look < kAskEvery; ++look) {
        const LogCopy::Result result =
            logs_ ? logs_->CopyNew() : LogCopy::Result::kNothing;
        if (result == LogCopy::Result::kClosed) return 0;
        if (over || !options_.follow) break;
        poll(nullptr, 0, kLookEveryMs);
      }
      if (!options_.follow || Ends(row, over)) return 0;
      if (over) poll(nullptr, 0, kLookEveryMs);  // for the next attempt
    }
  }

 private:
  TrialId id() const { return TrialId(options_.trial); }

  // Begins with the attempt that was asked for, or the newest. False where there is
  // none.
  bool StartAttempt(const TrialRow& row) {
    const std::vector<RunRow> runs = query_.store().LoadRuns(id());
    const RunRow* run = RunOf(runs, options_.attempt);
    if (run == nullptr && options_.attempt) {
      throw ConfigError(fmt::format("trial {} has no attempt {}; it has had {}",
                                    options_.trial,
                                    *options_.attempt,
                                    row.attempt.value()));
    }
    if (run == nullptr) return false;
    const fs::path folder = AttemptFolder(dir_, run->key);
    const std::vector<FileRow> kept = query_.store().LoadFiles(id());
    RequireLogs(folder, kept, options_, *run);
    attempt_ = run->key.attempt;
    logs_.emplace(folder, run->key, kept, options_);
    return true;
  }

  // Nothing more comes from the attempt that is followed.
  bool IsOver(const TrialRow& row) const {
    if (!attempt_) return false;
    const std::vector<RunRow> runs = query_.store().LoadRuns(id());
    const RunRow* run = RunOf(runs, attempt_->value());
    return run == nullptr || run->ended != 0 || row.attempt != *attempt_;
  }

  bool Ends(const TrialRow& row, bool over) {
    if (over && options_.attempt) return true;
    const bool next = !attempt_ || row.attempt != *attempt_;
    if (next && row.attempt.value() > 0) {
      options_.tail.reset();
      const bool began = attempt_.has_value();
      StartAttempt(row);
      if (began) Say(fmt::format("attempt {}", attempt_->value()));
      return false;
    }
    if (IsFinished(row.state) && (over || !attempt_)) return true;
    if (FindController(dir_)) return false;
    Say(fmt::format(
        "no sweep runs in {} now; {}", QuoteShellWord(dir_.string()), StateText(row)));
    return true;
  }

  const fs::path dir_;
  LogsOptions options_;
  const RecordQuery query_;
  std::optional<Attempt> attempt_;
  std::optional<AttemptLogs> logs_;
};

}  // namespace

int LogsCommand(const LogsOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  return Follower(SweepDirOf(options.dir), options).Run();
}

}  // namespace hyperopt

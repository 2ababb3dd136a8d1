// The search file's `loggers`: what trials report goes to TensorBoard's files or an
// MLflow server while the sweep runs.
//
// Each entry has a process of its own beside the controller
// (commands/logger_command.h), which reads the record and nothing else. So nothing of
// the sweep waits for a logger: here it is only started, heard and, at the end, awaited
// for a bounded time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "search/config.h"
#include "search/internal/beside_process.h"
#include "trial/clock.h"

namespace hyperopt {

// Where an entry leads: what it says, else what $MLFLOW_TRACKING_URI, the sweep's name
// and folder are. The first is "" where nothing says it.
std::string MlflowUriOf(const LoggerEntry& entry);
std::string MlflowExperimentOf(const LoggerEntry& entry, const std::string& sweep);
std::filesystem::path TensorboardFolderOf(const LoggerEntry& entry,
                                          const std::filesystem::path& sweep_dir);
// "mlflow: experiment digits at http://127.0.0.1:5000", for `check`.
std::string DescribeLogger(const LoggerEntry& entry,
                           const std::string& sweep,
                           const std::filesystem::path& sweep_dir);

// Throws ConfigError where an entry leads nowhere.
void RequireLoggers(const SearchConfig& config);

// Used from one thread. Never blocks but in Finish.
class LoggerProcesses {
 public:
  // What a logger says; `loud` of a trouble that its reader should hear of.
  using Tell = std::function<void(const std::string& line, bool loud)>;

  LoggerProcesses(std::vector<LoggerEntry> entries, std::filesystem::path dir);
  ~LoggerProcesses();
  LoggerProcesses(const LoggerProcesses&) = delete;
  LoggerProcesses& operator=(const LoggerProcesses&) = delete;

  // After a commit: hands on what they said, starts those that do not run. One that
  // dies again and again is started at growing intervals.
  void OnTurn(Time now, const Tell& tell);
  // The sweep is over: they have so long to bring what is left.
  void SayEnd(double seconds);
  // Until they have done so, a signal comes to `signals_fd` (a signalfd), or the time
  // is over: then they are killed.
  void Finish(int signals_fd, const Tell& tell);

 private:
  struct Logger {
    size_t number = 0;  // in the search file
    std::string name;
    internal::BesideProcess process;
    std::string unread;  // the beginning of a line
    Time next_start;     // while it does not run
    double pause_s = 0;  // after its next death
    Time started;
    bool death_said = false;
  };

  void Start(Logger* logger, Time now, const Tell& tell);
  void Hear(Logger* logger, const Tell& tell);
  // Whether it has ended; its last words are told.
  bool Reap(Logger* logger, const Tell& tell, int* status);
  void NoteDeath(Logger* logger, int status, Time now, const Tell& tell);
  void AwaitOne(int signals_fd, bool* interrupted, const Tell& tell);
  bool any_left() const;

  const std::filesystem::path dir_;
  std::vector<Logger> loggers_;
  Time next_look_;
  Time end_by_;
};

}  // namespace hyperopt

#include "search/loggers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "trial/errors.h"

namespace hyperopt {
namespace {

constexpr double kLookS = 0.2;
constexpr double kMostPauseS = 60;
// One that has lived so long did not die of how it began.
constexpr double kSettledS = 60;
// For its last words, once its own time is over.
constexpr double kMoreS = 2;
// Longer than this at the end, it is said what is waited for.
constexpr double kSaidAfterS = 1;
constexpr size_t kMostLine = 4000;

std::string DeathText(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

std::string MlflowUriOf(const LoggerEntry& entry) {
  if (!entry.uri.empty()) return entry.uri;
  const char* uri = std::getenv("MLFLOW_TRACKING_URI");
  return uri == nullptr ? "" : uri;
}

std::string MlflowExperimentOf(const LoggerEntry& entry, const std::string& sweep) {
  return entry.experiment.empty() ? sweep : entry.experiment;
}

std::filesystem::path TensorboardFolderOf(const LoggerEntry& entry,
                                          const std::filesystem::path& sweep_dir) {
  return entry.dir.empty() ? sweep_dir / "tensorboard" : entry.dir;
}

std::string DescribeLogger(const LoggerEntry& entry,
                           const std::string& sweep,
                           const std::filesystem::path& sweep_dir) {
  if (entry.kind == LoggerKind::kTensorboard) {
    return fmt::format(
        "tensorboard: event files in {}{}",
        TensorboardFolderOf(entry, sweep_dir).string(),
        entry.dir.empty() ? "" : ", in a folder of the sweep's name and id");
  }
  return fmt::format("mlflow: experiment {} at {}",
                     MlflowExperimentOf(entry, sweep),
                     MlflowUriOf(entry));
}

void RequireLoggers(const SearchConfig& config) {
  for (const LoggerEntry& entry : config.loggers) {
    if (entry.kind != LoggerKind::kMlflow || !entry.uri.empty()) continue;
    const std::string uri = MlflowUriOf(entry);
    if (uri.starts_with("http://") || uri.starts_with("https://")) continue;
    throw ConfigError(fmt::format(
        "loggers: mlflow lacks its server: write {{type: mlflow, uri: "
        "http://127.0.0.1:5000}}, or set MLFLOW_TRACKING_URI{}",
        uri.empty() ? "" : fmt::format(" (it is {}, which is no server)", uri)));
  }
}

LoggerProcesses::LoggerProcesses(std::vector<LoggerEntry> entries,
                                 std::filesystem::path dir)
    : dir_(std::move(dir)) {
  for (size_t i = 0; i < entries.size(); ++i) {
    Logger& logger = loggers_.emplace_back();
    logger.number = i;
    logger.name = ToString(entries[i].kind);
  }
}

LoggerProcesses::~LoggerProcesses() {
  for (Logger& logger : loggers_) {
    if (logger.process.pid == 0) continue;
    kill(logger.process.pid, SIGKILL);
    waitpid(logger.process.pid, nullptr, 0);
  }
}

void LoggerProcesses::OnTurn(Time now, const Tell& tell) {
  if (loggers_.empty() || now < next_look_) return;
  next_look_ = now + Seconds(kLookS);
  for (Logger& logger : loggers_) {
    if (logger.process.pid == 0) {
      if (now >= logger.next_start) Start(&logger, now, tell);
      continue;
    }
    Hear(&logger, tell);
    int status = 0;
    if (Reap(&logger, tell, &status)) NoteDeath(&logger, status, now, tell);
  }
}

void LoggerProcesses::Start(Logger* logger, Time now, const Tell& tell) {
  logger->started = now;
  try {
    logger->process = internal::StartBeside(
        {"logger", dir_.string(), "--number", std::to_string(logger->number)});
    const int fd = logger->process.words.get();
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  } catch (const EnvironmentError& error) {
    if (!std::exchange(logger->death_said, true)) tell(error.what(), true);
    logger->pause_s = std::clamp(2 * logger->pause_s, 1.0, kMostPauseS);
    logger->next_start = now + Seconds(logger->pause_s);
  }
}

// Its lines begin with `!` where they are loud, with a blank where not.
void LoggerProcesses::Hear(Logger* logger, const Tell& tell) {
  std::array<char, 1 << 14> piece;
  const ssize_t got = read(logger->process.words.get(), piece.data(), piece.size());
  if (got <= 0) return;
  logger->unread.append(piece.data(), static_cast<size_t>(got));
  for (size_t end; (end = logger->unread.find('\n')) != std::string::npos;) {
    const std::string line = logger->unread.substr(0, end);
    logger->unread.erase(0, end + 1);
    const bool marked = line.starts_with('!') || line.starts_with(' ');
    tell(fmt::format("{}: {}", logger->name, line.substr(marked ? 1 : 0)),
         !line.starts_with(' '));
  }
  if (logger->unread.size() > kMostLine) logger->unread.clear();
}

bool LoggerProcesses::Reap(Logger* logger, const Tell& tell, int* status) {
  if (waitpid(logger->process.pid, status, WNOHANG) != logger->process.pid) {
    return false;
  }
  Hear(logger, tell);
  logger->process = {};
  logger->unread.clear();
  return true;
}

void LoggerProcesses::NoteDeath(Logger* logger,
                                int status,
                                Time now,
                                const Tell& tell) {
  if (now - logger->started > Seconds(kSettledS)) {
    logger->pause_s = 0;
    logger->death_said = false;
  }
  if (!std::exchange(logger->death_said, true)) {
    tell(fmt::format("{}: its process ended ({}); it is started again, the sweep goes "
                     "on",
                     logger->name,
                     DeathText(status)),
         true);
  }
  logger->pause_s = std::clamp(2 * logger->pause_s, 1.0, kMostPauseS);
  logger->next_start = now + Seconds(logger->pause_s);
}

void LoggerProcesses::SayEnd(double seconds) {
  const Time now = ReadClocks().steady;
  end_by_ = now + Seconds(seconds + kMoreS);
  const std::string word = fmt::format("end {}\n", seconds);
  for (Logger& logger : loggers_) {
    const bool is_dead = logger.process.pid == 0 && logger.started != Time();
    if (is_dead) Start(&logger, now, [](const std::string&, bool) {});
    if (logger.process.pid == 0) continue;
    [[maybe_unused]] const ssize_t put =
        write(logger.process.life.get(), word.data(), word.size());
  }
}

bool LoggerProcesses::any_left() const {
  return std::ranges::any_of(
      loggers_, [](const Logger& logger) { return logger.process.pid != 0; });
}

void LoggerProcesses::Finish(int signals_fd, const Tell& tell) {
  const Time said_at = ReadClocks().steady + Seconds(kSaidAfterS);
  bool interrupted = false, said = false;
  while (any_left() && !interrupted && ReadClocks().steady < end_by_) {
    AwaitOne(signals_fd, &interrupted, tell);
    if (said || ReadClocks().steady < said_at) continue;
    said = true;
    for (const Logger& logger : loggers_) {
      if (logger.process.pid == 0) continue;
      tell(fmt::format("{}: the last of it is on its way; Ctrl-C leaves it there",
                       logger.name),
           true);
    }
  }
  for (Logger& logger : loggers_) {
    if (logger.process.pid == 0) continue;
    tell(
        fmt::format("{}: cut off, what is missing there is in the record", logger.name),
        true);
  }
}

void LoggerProcesses::AwaitOne(int signals_fd, bool* interrupted, const Tell& tell) {
  pollfd fd{signals_fd, POLLIN, 0};
  ::poll(&fd, 1, 50);
  signalfd_siginfo info;
  while (::read(signals_fd, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGCHLD) *interrupted = true;
  }
  for (Logger& logger : loggers_) {
    if (logger.process.pid == 0) continue;
    Hear(&logger, tell);
    int status = 0;
    if (!Reap(&logger, tell, &status)) continue;
    if (WIFSIGNALED(status)) {
      tell(fmt::format("{}: its process ended ({})", logger.name, DeathText(status)),
           true);
    }
  }
}

}  // namespace hyperopt

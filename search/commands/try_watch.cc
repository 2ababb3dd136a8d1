#include "search/commands/try_watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "executors/attempt_folder.h"
#include "executors/device_peak.h"
#include "search/commands/ask_controller.h"
#include "trial/clock.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

constexpr int kLookEveryMs = 50;
constexpr RunKey kTheRun{TrialId(0), RunId(0), Attempt(1)};

}  // namespace

TryWatch::TryWatch(std::filesystem::path dir,
                   int ranks,
                   bool uses_devices,
                   std::optional<double> stop_after_s)
    : dir_(std::move(dir)),
      attempt_(AttemptDir(dir_, kTheRun)),
      stop_after_s_(stop_after_s) {
  logs_.emplace_back(attempt_ / kStdoutFile, STDOUT_FILENO);
  logs_.emplace_back(attempt_ / kStderrFile, STDERR_FILENO);
  for (int rank = 1; rank < ranks; ++rank) {
    logs_.emplace_back(attempt_ / fmt::format("stderr.{}.log", rank), STDERR_FILENO);
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  if (uses_devices) devices_ = std::thread([this] { WatchDevices(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TryWatch::~TryWatch() { Finish(); }

void TryWatch::Finish() {
  if (!thread_.joinable()) return;
  over_ = true;
  thread_.join();
  if (devices_.joinable()) devices_.join();
  ShowNew();
}

// The driver may take long to answer, which the output does not wait for.
void TryWatch::WatchDevices() {
  std::string sweep;
  for (; sweep.empty() && !over_; ::poll(nullptr, 0, kLookEveryMs)) {
    try {
      sweep = Trim(ReadFile(dir_ / "sweep.id").value_or(""));
    } catch (const EnvironmentError&) {
      return;
    }
  }
  if (sweep.empty()) return;
  DevicePeak peak(sweep);
  for (; !over_; ::poll(nullptr, 0, kLookEveryMs)) peak.Look();
  device_memory_ = peak.bytes();
}

void TryWatch::ShowNew() {
  for (LogCopy& log : logs_) log.CopyNew();
}

void TryWatch::Run() {
  std::optional<Time> started;
  bool asked = false;
  while (!over_) {
    ShowNew();
    const Time now = ReadClocks().steady;
    if (!started && std::filesystem::exists(attempt_ / kStdoutFile)) started = now;
    const bool due =
        started && stop_after_s_ && now - *started >= Seconds(*stop_after_s_);
    if (due && !asked) asked = AskToStop();
    ::poll(nullptr, 0, kLookEveryMs);
  }
}

bool TryWatch::AskToStop() const {
  try {
    return AskController(dir_,
                         {{"op", "stop trials"},
                          {"token", "try"},
                          {"trials", OrderedJson::array({0})}})
        .has_value();
  } catch (const Error&) {
    return true;  // it has just ended
  }
}

}  // namespace hyperopt

// Looks after the trial of `hyperopt try` while the loop runs it: its output goes to
// the terminal, and after a while it is asked to stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "search/commands/log_copy.h"

namespace hyperopt {

// A thread that takes no signals: those are the loop's.
class TryWatch {
 public:
  // `dir` is the sweep's folder; the sweep may start later. Of `ranks` processes the
  // first's stdout and everyone's stderr are shown. Devices are looked at where
  // `uses_devices`.
  TryWatch(std::filesystem::path dir,
           int ranks,
           bool uses_devices,
           std::optional<double> stop_after_s);
  ~TryWatch();
  TryWatch(const TryWatch&) = delete;
  TryWatch& operator=(const TryWatch&) = delete;

  // The sweep is over: what is left of the output is shown.
  void Finish();

  // Bytes that the trial's processes held on devices at most, as far as was seen; 0
  // where none was. After Finish.
  int64_t device_memory() const { return device_memory_; }

 private:
  void Run();
  void ShowNew();
  void WatchDevices();
  // False where nobody took it.
  bool AskToStop() const;

  const std::filesystem::path dir_, attempt_;
  const std::optional<double> stop_after_s_;
  std::vector<LogCopy> logs_;
  int64_t device_memory_ = 0;  // of devices_, until it has ended
  std::atomic<bool> over_ = false;
  std::thread thread_, devices_;
};

}  // namespace hyperopt

// The open files of one run that an executor holds.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "executors/attempt_folder.h"
#include "executors/device_lease.h"
#include "executors/executor.h"
#include "executors/run_sources.h"
#include "trial/clock.h"

namespace hyperopt {

struct FollowedRun {
  RunKey key;
  std::filesystem::path dir;
  Time started;
  Time looked;
  Time next_look;  // not before
  Time next_log_look;
  int watch = -1;        // inotify descriptor of its folder, -1 where there is none
  bool over = false;     // read to its end: nothing more comes
  bool touched = false;  // inotify said that something was written
  int64_t pruned_step = 0;
  RunSources sources;
  std::vector<DeviceLease> leases;  // of real devices, against other sweeps

  // The sources that the sweep's search file asks for, standing at 0.
  void OpenReaders(const SweepSpec& sweep);
  void Seek(const std::vector<SourceOffset>& to) { sources.Seek(to); }
  // Reads what is new from all sources and hands it to `take`. With kToTheEnd to the
  // end, else one round of at most `max_bytes` a source.
  void Read(ReadMode mode,
            int64_t max_bytes,
            Time now,
            const std::function<void(SourceRead)>& take);
};

}  // namespace hyperopt

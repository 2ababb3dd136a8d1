#include "executors/internal/followed_run.h"

#include <utility>

namespace hyperopt {

void FollowedRun::OpenReaders(const SweepSpec& sweep) {
  sources = RunSources(dir, key, sweep.name, sweep.read);
}

void FollowedRun::Read(ReadMode mode,
                       int64_t max_bytes,
                       Time now,
                       const std::function<void(SourceRead)>& take) {
  const double elapsed = ToSeconds(now - started);
  sources.Read(mode, max_bytes, now, [&](SourceRead read) {
    for (ReportLine& line : read.lines) line.elapsed_s = elapsed;
    take(std::move(read));
  });
}

}  // namespace hyperopt

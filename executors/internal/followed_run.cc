#include "executors/internal/followed_run.h"

#include <utility>

namespace hyperopt {

void FollowedRun::OpenReaders(const SweepSpec& sweep) {
  readers.clear();
  readers.push_back(NewJsonReader(dir / kReportFile, SourceId{"report", 0}));
  if (sweep.output_patterns.empty()) return;
  for (const auto& [file, name] :
       {std::pair(kStdoutFile, "stdout"), std::pair(kStderrFile, "stderr")}) {
    readers.push_back(
        NewPatternReader(dir / file, SourceId{name, 0}, sweep.output_patterns));
  }
}

void FollowedRun::Seek(const std::vector<SourceOffset>& to) {
  for (const SourceOffset& at : to) {
    for (auto& reader : readers) {
      if (reader->position().source.name == at.source.name) reader->Seek(at);
    }
  }
}

void FollowedRun::Read(ReadMode mode,
                       int64_t max_bytes,
                       Time now,
                       const std::function<void(SourceRead)>& take) {
  const double elapsed = ToSeconds(now - started);
  for (auto& reader : readers) {
    bool more = true;
    while (more) {
      std::optional<SourceRead> read = reader->Read(mode, max_bytes);
      if (!read) break;
      more = read->more && mode == ReadMode::kToTheEnd;
      for (ReportLine& line : read->lines) line.elapsed_s = elapsed;
      take(std::move(*read));
    }
  }
}

}  // namespace hyperopt

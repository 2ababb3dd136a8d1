#include "executors/report_reader.h"

#include "executors/internal/line_follower.h"
#include "executors/internal/utf8.h"

namespace hyperopt {
namespace {

using internal::LineFollower;

class JsonReader final : public ReportReader {
 public:
  JsonReader(const std::filesystem::path& file, const SourceId& source)
      : follower_(file, source, internal::LineEnds::kNewline) {}

  std::optional<SourceRead> Read(ReadMode mode, int64_t max_bytes) override {
    SourceRead read;
    const auto progress =
        follower_.Read(mode, max_bytes, [&read](const LineFollower::Line& line) {
          if (line.too_long) {
            ++read.oddities.too_long;
            if (read.oddities.first.empty()) {
              read.oddities.first = internal::ShownStart(line.text);
            }
            return;
          }
          if (auto report = ParseReportLine(line.text, &read.oddities)) {
            report->end_offset = line.end_offset;
            read.lines.push_back(*std::move(report));
          }
        });
    if (!progress.something) return std::nullopt;
    read.from = progress.from;
    read.upto = follower_.position();
    read.more = progress.more;
    return read;
  }

  void Seek(const SourceOffset& to) override { follower_.Seek(to); }
  const SourceOffset& position() const override { return follower_.position(); }

 private:
  LineFollower follower_;
};

}  // namespace

std::unique_ptr<ReportReader> NewJsonReader(const std::filesystem::path& file,
                                            const SourceId& source) {
  return std::make_unique<JsonReader>(file, source);
}

}  // namespace hyperopt

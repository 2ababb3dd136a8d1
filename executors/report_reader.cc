#include "executors/report_reader.h"

#include "executors/internal/line_reader.h"
#include "executors/internal/number_word.h"

namespace hyperopt {
namespace {

using internal::LineFollower;

class JsonReader final : public internal::LineReader {
 public:
  JsonReader(const std::filesystem::path& file, const SourceId& source)
      : LineReader(file, source, internal::LineEnds::kNewline) {}

 private:
  void Take(const LineFollower::Line& line, SourceRead& read) override {
    auto report = ParseReportLine(line.text, &read.oddities);
    if (!report) return;
    report->end_offset = line.end_offset;
    read.lines.push_back(*std::move(report));
  }
};

class RenamingReader final : public ReportReader {
 public:
  RenamingReader(std::unique_ptr<ReportReader> reader,
                 std::map<std::string, std::string> names)
      : reader_(std::move(reader)), names_(std::move(names)) {}

  std::optional<SourceRead> Read(ReadMode mode, int64_t max_bytes) override {
    std::optional<SourceRead> read = reader_->Read(mode, max_bytes);
    if (!read) return read;
    for (ReportLine& line : read->lines) Rename(line);
    return read;
  }
  void Seek(const SourceOffset& to) override { reader_->Seek(to); }
  const SourceOffset& position() const override { return reader_->position(); }

 private:
  void Rename(ReportLine& line) const {
    std::map<std::string, double> renamed;
    for (const auto& [from, to] : names_) {
      auto value = line.values.extract(from);
      if (!value.empty()) renamed.insert_or_assign(to, value.mapped());
      if (from == "step" && line.step) {
        renamed.insert_or_assign(to, static_cast<double>(*line.step));
        line.step.reset();
      }
    }
    for (const auto& [name, value] : renamed) {
      const std::optional<int64_t> step = internal::Integer(value);
      if (name == "step" && step) {
        line.step = step;
      } else {
        line.values.insert_or_assign(name, value);
      }
    }
  }

  const std::unique_ptr<ReportReader> reader_;
  const std::map<std::string, std::string> names_;
};

}  // namespace

std::unique_ptr<ReportReader> NewJsonReader(const std::filesystem::path& file,
                                            const SourceId& source) {
  return std::make_unique<JsonReader>(file, source);
}

std::unique_ptr<ReportReader> WithNames(std::unique_ptr<ReportReader> reader,
                                        std::map<std::string, std::string> names) {
  if (names.empty()) return reader;
  return std::make_unique<RenamingReader>(std::move(reader), std::move(names));
}

}  // namespace hyperopt

#include "executors/run_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "executors/attempt_folder.h"
#include "executors/internal/find_files.h"
#include "executors/internal/line_reader.h"

namespace hyperopt {
namespace {

constexpr double kSearchEveryS = 0.5;

std::unique_ptr<ReportReader> NewFileReader(ReadKind kind,
                                            const std::filesystem::path& file,
                                            const SourceId& source) {
  if (kind == ReadKind::kCsv) return NewCsvReader(file, source);
  if (kind == ReadKind::kTensorboard) return NewTensorboardReader(file, source);
  return NewJsonReader(file, source);
}

}  // namespace

RunSources::RunSources(std::filesystem::path dir,
                       const RunKey& key,
                       const std::string& sweep_name,
                       std::vector<ReadSource> read)
    : dir_(std::move(dir)) {
  readers_.push_back(NewJsonReader(dir_ / kReportFile, SourceId{"report", 0}));
  size_t outputs = 0;
  for (ReadSource& source : read) {
    if (!IsOfFiles(source.kind)) {
      OpenOutput(source, outputs++);
      continue;
    }
    source.glob = ExpandGlob(source.glob, key, sweep_name);
    read_.push_back({std::move(source)});
  }
}

void RunSources::OpenOutput(const ReadSource& read, size_t number) {
  const std::string end = number == 0 ? "" : " " + std::to_string(number);
  for (const auto& [file, name] :
       {std::pair(kStdoutFile, "stdout"), std::pair(kStderrFile, "stderr")}) {
    const SourceId source{name + end, 0};
    auto reader = read.kind == ReadKind::kDicts
                      ? NewDictReader(dir_ / file, source)
                      : NewPatternReader(dir_ / file, source, read.patterns);
    readers_.push_back(WithNames(std::move(reader), read.rename));
  }
}

void RunSources::Seek(const std::vector<SourceOffset>& to) {
  for (const SourceOffset& at : to) {
    const auto reader = std::ranges::find_if(readers_, [&](const auto& candidate) {
      return candidate->position().source.name == at.source.name;
    });
    if (reader != readers_.end()) {
      (*reader)->Seek(at);
    } else {
      awaited_[at.source.name] = at;
    }
  }
}

void RunSources::Read(ReadMode mode,
                      int64_t max_bytes,
                      Time now,
                      const std::function<void(SourceRead)>& take) {
  if (!read_.empty() && (mode == ReadMode::kToTheEnd || now >= next_search_)) {
    next_search_ = now + Seconds(kSearchEveryS);
    FindNewFiles();
  }
  for (auto& reader : readers_) {
    bool more = true;
    while (more) {
      std::optional<SourceRead> read = reader->Read(mode, max_bytes);
      if (!read) break;
      more = read->more && mode == ReadMode::kToTheEnd;
      if (!left_out_.empty() && !std::exchange(said_left_out_, true)) {
        internal::CountOdd(&Oddities::not_json,
                           fmt::format("{}more than {} files match: {} and what came "
                                       "after it was not read",
                                       kReaderSays,
                                       kMostFiles,
                                       left_out_),
                           read->oddities);
      }
      take(std::move(*read));
    }
  }
  if (mode == ReadMode::kToTheEnd && !std::exchange(said_unmatched_, true)) {
    SayUnmatched(take);
  }
}

// No file can carry the word, so the report file does, whether it is there or not.
void RunSources::SayUnmatched(const std::function<void(SourceRead)>& take) {
  SourceRead read;
  for (const Files& files : read_) {
    if (files.matched) continue;
    internal::CountOdd(&Oddities::not_json,
                       fmt::format("{}no file matched `{}` in the trial's folder",
                                   kReaderSays,
                                   files.read.glob),
                       read.oddities);
  }
  if (!read.oddities.any()) return;
  read.upto = readers_.front()->position();
  read.from = read.upto.offset;
  take(std::move(read));
}

void RunSources::FindNewFiles() {
  for (Files& files : read_) {
    for (const std::string& path : internal::FindFiles(dir_, files.read.glob)) {
      files.matched = true;
      OpenFile(files.read, path);
    }
  }
}

void RunSources::OpenFile(const ReadSource& read, const std::string& path) {
  const bool is_open = std::ranges::any_of(readers_, [&](const auto& reader) {
    return reader->position().source.name == path;
  });
  if (is_open || path == kReportFile) return;
  const auto place = awaited_.find(path);
  // What was read before has its room, whatever else is found first this time.
  if (place == awaited_.end() && files_ + awaited_.size() >= kMostFiles) {
    if (left_out_.empty()) left_out_ = path;
    return;
  }
  ++files_;
  readers_.push_back(
      WithNames(NewFileReader(read.kind, dir_ / path, SourceId{path, 0}), read.rename));
  if (place == awaited_.end()) return;
  readers_.back()->Seek(place->second);
  awaited_.erase(place);
}

}  // namespace hyperopt

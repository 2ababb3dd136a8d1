// All that one run's reports are read from: $HYPEROPT_REPORT, and what `read:` asks
// for.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executors/report_reader.h"
#include "trial/clock.h"
#include "trial/ids.h"
#include "trial/read_source.h"

namespace hyperopt {

// Not thread-safe.
//
// A source's name: "report", "stdout", "stderr" (a further entry of `read:` that reads
// the output: "stdout 1", ...), or a file's path in the attempt's folder.
class RunSources {
 public:
  // Files of a run that are read besides its output; others are named once as an
  // oddity.
  static constexpr size_t kMostFiles = 32;

  RunSources() = default;
  // Standing at 0. `dir` is the attempt's folder. Throws ConfigError on what is no
  // regular expression.
  RunSources(std::filesystem::path dir,
             const RunKey& key,
             const std::string& sweep_name,
             std::vector<ReadSource> read);

  // Goes to these places; the other sources stay where they are.
  void Seek(const std::vector<SourceOffset>& to);
  // Reads what is new from all sources and hands it to `take`. With kToTheEnd to the
  // end, else one round of at most `max_bytes` a source. New files are looked for twice
  // a second, and always with kToTheEnd, which names a glob that matched none once.
  void Read(ReadMode mode,
            int64_t max_bytes,
            Time now,
            const std::function<void(SourceRead)>& take);

 private:
  void OpenOutput(const ReadSource& read, size_t number);
  void FindNewFiles();
  void SayUnmatched(const std::function<void(SourceRead)>& take);
  void OpenFile(const ReadSource& read, const std::string& path);

  std::filesystem::path dir_;
  struct Files {
    ReadSource read;  // its glob expanded
    bool matched = false;
  };
  std::vector<Files> read_;
  std::vector<std::unique_ptr<ReportReader>> readers_;
  std::map<std::string, SourceOffset> awaited_;  // places in files not seen yet
  std::string left_out_;                         // the first file that was one too many
  bool said_left_out_ = false;
  bool said_unmatched_ = false;
  size_t files_ = 0;
  Time next_search_;
};

}  // namespace hyperopt

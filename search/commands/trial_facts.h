// One trial of a sweep, as `show` and `logs` read it: asked for alone, so that the
// answer comes as fast in a sweep of 10,000.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/config.h"
#include "search/repeats.h"
#include "trial/record_query.h"

namespace hyperopt {

// Throws ConfigError where `dir` holds no sweep, EnvironmentError where it can not be
// read.
RecordQuery OpenQuery(const std::filesystem::path& dir);

// Throws ConfigError where there is no such trial, saying how many there are.
TrialRow TrialOf(const RecordQuery& query, TrialId id);

// Absolute. The files of an attempt on a machine that does not share the sweep's folder
// are not there.
std::filesystem::path AttemptFolder(const std::filesystem::path& sweep_dir,
                                    const RunKey& key);

struct TrialFacts {
  std::filesystem::path dir;  // the sweep's, absolute
  SweepRow sweep;
  SearchConfig config;
  TrialRow row;
  Params params;
  std::vector<RunRow> runs;  // by attempt
  std::map<ExecutorId, ExecutorRow> executors;
  std::vector<RungRow> rungs;
  std::vector<ReportRow> reports;  // of all attempts, in the order they came
  // What the record keeps of attempts whose folder is gone (keep.h).
  std::vector<FileRow> files;
  // For each step the value of the highest attempt that reached it.
  std::vector<std::pair<int64_t, double>> curve;
  // The newest complete one that is still there; "" where there is none.
  std::filesystem::path checkpoint;
  // Where configurations are repeated: how they stand.
  std::optional<Race> race;
  std::vector<std::string> last_words;  // of the newest attempt's stderr, printable
};
// The text of one of them; nullopt where it is not there. Throws EnvironmentError where
// it is damaged.
std::optional<std::string> KeptFile(const std::vector<FileRow>& files,
                                    const RunKey& key,
                                    std::string_view name);
TrialFacts ReadTrial(const std::filesystem::path& dir, TrialId id);

}  // namespace hyperopt

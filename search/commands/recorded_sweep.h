// A sweep's record, opened beside whoever writes it, as the commands read it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/config.h"
#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

struct RecordedSweep {
  std::filesystem::path dir;
  std::unique_ptr<TrialStore> store;
  RecordSnapshot record;
  SearchConfig config;  // as resolved when the sweep was last started
};

// In an origin: what the trials were imported from (import.h).
inline constexpr std::string_view kImportedOrigin = "imported";
// Throws ConfigError where the trials were imported: nothing there can be run.
void RequireOwnTrials(const SweepRow& row, const std::filesystem::path& dir);

// Throws ConfigError where `dir` holds no sweep.
void RequireSweep(const std::filesystem::path& dir);

// Who stands by (standby.h) is pending. Throws ConfigError where `dir` holds no sweep,
// EnvironmentError where it can not be read.
RecordedSweep ReadSweep(const std::filesystem::path& dir);

// Changes with every commit to the record of `dir`: what its files look like from
// outside. "" where there is none.
std::string RecordStamp(const std::filesystem::path& dir);

// The search file that a record holds, with the limits that `hyperopt set` changed
// since. Throws EnvironmentError where this version of
// hyperopt can not read it.
SearchConfig ConfigOfRecord(const SweepRow& row);

// The file alone, for a start from the record: the file's bytes and place are those of
// the sweep's first start, so that a resume changes nothing, wherever it is typed.
SearchConfig ConfigForResume(const SweepRow& row);

// The row of a trial; throws ConfigError where there is none, saying how many there
// are.
const TrialRow& TrialOf(const RecordedSweep& sweep, TrialId id);

}  // namespace hyperopt

// The files of a finished trial: packed for the record, dropped, or freed of their
// logs. No record is touched here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trial/ids.h"
#include "trial/record.h"

namespace hyperopt::internal {

// <sweep>/trials/<id>.
std::filesystem::path TrialFolder(const std::filesystem::path& sweep_dir, TrialId id);

// Trials that have a folder, ascending. What an earlier life began to drop is dropped.
std::vector<TrialId> TrialsWithFolder(const std::filesystem::path& sweep_dir);

// Reports and, with `logs`, logs of all attempts that are there; what `log_limit` has
// punched out is said in its place, and so is the middle of a file over 128 MiB. Throws
// EnvironmentError where one can not be read.
std::vector<FileRow> PackTrial(const std::filesystem::path& sweep_dir,
                               TrialId id,
                               bool logs);

// Removes the folder with all that is in it. Killed at any moment, it is there whole or
// not at all under its name; TrialsWithFolder finishes what is left.
void DropTrial(const std::filesystem::path& sweep_dir, TrialId id);

// Removes the logs of all attempts, and empty folders for checkpoints.
void DropLogs(const std::filesystem::path& sweep_dir, TrialId id);

}  // namespace hyperopt::internal

// `workdir: snapshot`: all trials of a sweep run from one copy of the code.
//
// The copy is <sweep>/snapshot: the files that git tracks, as they are in the working
// tree when the sweep begins, submodules with theirs. It is made once, whole or not at
// all, and every later start uses it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trial/record.h"

namespace hyperopt {

using Origin = std::map<std::string, std::string>;

// Another sweep whose copy is taken, so that the same code runs.
struct SnapshotSource {
  std::filesystem::path sweep_dir;
  Origin origin;
};

// Makes the copy where it is not there, and notes in the sweep's origin what it is a
// copy of. `config_dir` is the search file's folder: the copied checkout is that of the
// folder hyperopt was started in, else that one's. Returns lines for a person: what was
// copied, what was left out. Throws ConfigError where neither is in a git checkout,
// EnvironmentError where a file can not be copied.
std::vector<std::string> MakeSnapshot(const std::filesystem::path& sweep_dir,
                                      const std::filesystem::path& config_dir,
                                      const std::optional<SnapshotSource>& source,
                                      SweepRow* sweep);

// What MakeSnapshot would refuse of a sweep that begins in `started_in`, told before
// anything is made. Throws ConfigError.
void RequireCheckout(const std::filesystem::path& started_in,
                     const std::filesystem::path& config_dir);

// Where a file or folder of the copied checkout lies in the copy; nullopt where `path`
// is outside of it, or the sweep has no copy.
std::optional<std::filesystem::path> InSnapshot(const std::filesystem::path& sweep_dir,
                                                const Origin& origin,
                                                const std::filesystem::path& path);

}  // namespace hyperopt

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>

#include "executors/attempt_folder.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr char kComplete[] = "COMPLETE";

// "12", and nothing that a program would not write itself ("012", "+12", "12.tmp").
std::optional<int64_t> StepOf(const char* name) {
  int64_t step = 0;
  const char* end = name + std::strlen(name);
  const auto [stop, error] = std::from_chars(name, end, step);
  const bool is_step = error == std::errc() && stop == end && step >= 0 &&
                       (name[0] != '0' || name[1] == '\0') && name[0] != '-';
  return is_step ? std::optional(step) : std::nullopt;
}

// A folder's links are its name, its "." and each subfolder's "..", where the file
// system counts them (1 where it does not). Most trials leave no checkpoint, and a look
// is half the price of a listing.
bool HasNoFolders(const fs::path& folder) {
  struct stat info {};
  return stat(folder.c_str(), &info) == 0 && info.st_nlink == 2;
}

fs::path FolderOf(const fs::path& attempt_dir, int64_t step) {
  return attempt_dir / kCheckpointFolder / std::to_string(step);
}

}  // namespace

std::vector<int64_t> CompleteCheckpoints(const fs::path& attempt_dir) {
  std::vector<int64_t> steps;
  const fs::path folder = attempt_dir / kCheckpointFolder;
  if (HasNoFolders(folder)) return steps;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  if (!open) return steps;
  while (const dirent* entry = readdir(open.get())) {
    const auto step = StepOf(entry->d_name);
    if (!step) continue;
    const fs::path mark = folder / entry->d_name / kComplete;
    if (access(mark.c_str(), F_OK) == 0) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::vector<int64_t> KeptCheckpoints(const fs::path& attempt_dir,
                                     const std::vector<int64_t>& ranking,
                                     int64_t best_count,
                                     int64_t last_count) {
  const std::vector<int64_t> steps = CompleteCheckpoints(attempt_dir);
  std::vector<int64_t> kept;
  for (const int64_t step : ranking) {
    if (std::ssize(kept) == best_count) break;
    if (std::binary_search(steps.begin(), steps.end(), step)) kept.push_back(step);
  }
  const auto last = std::min(last_count, std::ssize(steps));
  kept.insert(kept.end(), steps.end() - last, steps.end());
  return kept;
}

void PruneCheckpoints(const fs::path& attempt_dir,
                      int64_t best_step,
                      int64_t last_step,
                      const std::vector<int64_t>& keep) {
  const std::vector<int64_t> steps = CompleteCheckpoints(attempt_dir);
  for (const int64_t step : steps) {
    const bool is_wanted = step > last_step || step == best_step ||
                           step == steps.back() ||
                           std::find(keep.begin(), keep.end(), step) != keep.end();
    if (is_wanted) continue;
    // The mark goes first: what is half deleted must not look complete. A file that
    // will not go (somebody's open NFS handle) is tried again at the next call, as an
    // incomplete folder it does no harm.
    const fs::path folder = FolderOf(attempt_dir, step);
    std::error_code ignored;
    if (fs::remove(folder / kComplete, ignored)) fs::remove_all(folder, ignored);
  }
}

}  // namespace hyperopt

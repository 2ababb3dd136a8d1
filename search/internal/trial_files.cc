#include "search/internal/trial_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "executors/attempt_folder.h"
#include "trial/failpoint.h"
#include "trial/fs.h"
#include "trial/packed.h"
#include "trial/resources.h"

namespace hyperopt::internal {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostOfAFile = 128 << 20;
constexpr std::string_view kGone = ".gone";

template <typename Int>
std::optional<Int> NumberOf(std::string_view name) {
  Int number{};
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

// Subfolders whose name is a number, ascending.
template <typename Int>
std::vector<Int> NumberedFolders(const fs::path& folder) {
  std::vector<Int> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (const auto number = NumberOf<Int>(entry.path().filename().string())) {
      numbers.push_back(*number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

bool IsLog(const std::string& name) {
  return name.ends_with(".log") &&
         (name.starts_with("stdout.") || name.starts_with("stderr."));
}

template <typename Visit>
void ForEachAttempt(const fs::path& sweep_dir, TrialId id, const Visit& visit) {
  const fs::path folder = TrialFolder(sweep_dir, id);
  for (const int32_t run : NumberedFolders<int32_t>(folder)) {
    for (const int32_t attempt :
         NumberedFolders<int32_t>(folder / std::to_string(run))) {
      const RunKey key{id, RunId(run), Attempt(attempt)};
      visit(key, AttemptDir(sweep_dir, key));
    }
  }
}

void AppendBytes(
    int fd, const fs::path& file, int64_t from, int64_t to, std::string* text) {
  while (from < to) {
    const size_t at = text->size();
    const int64_t want = std::min<int64_t>(to - from, 1 << 20);
    text->resize(at + static_cast<size_t>(want));
    const ssize_t got = pread(fd, text->data() + at, static_cast<size_t>(want), from);
    if (got < 0) ThrowFileError(file, "can not be read", errno);
    text->resize(at + static_cast<size_t>(got));
    if (got == 0) return;
    from += got;
  }
}

std::string DroppedText(int64_t bytes) {
  return fmt::format("\n[{} dropped here, over log_limit]\n", SizeToText(bytes));
}

// Where bytes are, without the holes.
std::vector<std::pair<int64_t, int64_t>> DataOf(int fd, int64_t size) {
  std::vector<std::pair<int64_t, int64_t>> parts;
  for (int64_t at = 0; at < size;) {
    const int64_t data = lseek(fd, at, SEEK_DATA);
    if (data < 0) break;
    const int64_t hole = lseek(fd, data, SEEK_HOLE);
    const int64_t end = hole < 0 ? size : std::min<int64_t>(hole, size);
    parts.emplace_back(data, end);
    at = end;
  }
  return parts;
}

std::string ReadSparse(const fs::path& file) {
  const UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0)
    ThrowFileError(file, "can not be read", errno);
  std::string text;
  int64_t done = 0;
  for (auto [from, to] : DataOf(fd.get(), info.st_size)) {
    if (from > done) text += DroppedText(from - done);
    if (to - from > kMostOfAFile) {
      AppendBytes(fd.get(), file, from, from + kMostOfAFile / 2, &text);
      text += DroppedText(to - from - kMostOfAFile);
      from = to - kMostOfAFile / 2;
    }
    AppendBytes(fd.get(), file, from, to, &text);
    done = to;
  }
  return text;
}

}  // namespace

fs::path TrialFolder(const fs::path& sweep_dir, TrialId id) {
  return sweep_dir / "trials" / std::to_string(id.value());
}

std::vector<TrialId> TrialsWithFolder(const fs::path& sweep_dir) {
  std::error_code error;
  std::vector<fs::path> gone;
  for (const auto& entry : fs::directory_iterator(sweep_dir / "trials", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') && name.ends_with(kGone)) gone.push_back(entry.path());
  }
  for (const fs::path& folder : gone) fs::remove_all(folder, error);
  std::vector<TrialId> trials;
  for (const int64_t id : NumberedFolders<int64_t>(sweep_dir / "trials")) {
    trials.emplace_back(id);
  }
  return trials;
}

std::vector<FileRow> PackTrial(const fs::path& sweep_dir, TrialId id, bool logs) {
  std::vector<FileRow> rows;
  ForEachAttempt(sweep_dir, id, [&](const RunKey& key, const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      const bool wanted = name == kReportFile || (logs && IsLog(name));
      if (wanted && entry.is_regular_file(error)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const std::string text = ReadSparse(folder / name);
      rows.push_back({key, name, std::ssize(text), Pack(text)});
    }
  });
  return rows;
}

void DropTrial(const fs::path& sweep_dir, TrialId id) {
  const fs::path folder = TrialFolder(sweep_dir, id);
  const fs::path gone = folder.parent_path() / fmt::format(".{}{}", id.value(), kGone);
  std::error_code error;
  fs::remove_all(gone, error);
  fs::rename(folder, gone, error);
  Failpoint("keep.after_rename");
  if (!error) fs::remove_all(gone, error);
}

void DropLogs(const fs::path& sweep_dir, TrialId id) {
  ForEachAttempt(sweep_dir, id, [](const RunKey&, const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (IsLog(entry.path().filename().string())) files.push_back(entry.path());
    }
    for (const fs::path& file : files) fs::remove(file, error);
    rmdir((folder / kCheckpointFolder).c_str());
  });
}

}  // namespace hyperopt::internal

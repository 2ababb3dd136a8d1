#include "trainer/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kComplete = "COMPLETE";

void SyncFile(const stdfs::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) ThrowFileError(path, "fsync", errno);
}

std::optional<int64_t> StepOf(const stdfs::path& folder) {
  const std::string name = folder.filename();
  int64_t step = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), step);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && step >= 0 ? std::optional(step) : std::nullopt;
}

}  // namespace

bool IsComplete(const stdfs::path& checkpoint) {
  std::error_code ignored;
  return stdfs::exists(checkpoint / kComplete, ignored);
}

stdfs::path WriteCheckpoint(const stdfs::path& dir,
                            int64_t step,
                            const std::function<void(const stdfs::path&)>& write) {
  const stdfs::path folder = dir / std::to_string(step);
  if (IsComplete(folder)) {
    throw EnvironmentError(fmt::format(
        "{}: a complete checkpoint is never written again; resume from it or name "
        "another folder",
        folder.string()));
  }
  std::error_code error;
  stdfs::remove_all(folder, error);
  if (!error) stdfs::create_directories(folder, error);
  if (error) ThrowFileError(folder, "make the checkpoint's folder", error.value());
  write(folder);
  for (const auto& entry : stdfs::directory_iterator(folder)) SyncFile(entry.path());
  WriteFileAtomically(folder / kComplete, "", Durability::kMachine);
  SyncFolder(dir);
  return folder;
}

std::optional<stdfs::path> FindCheckpoint(const stdfs::path& path) {
  if (IsComplete(path)) return path;
  std::error_code error;
  std::optional<stdfs::path> newest;
  int64_t newest_step = -1;
  for (const auto& entry : stdfs::directory_iterator(path, error)) {
    const auto step = StepOf(entry.path());
    if (!step || *step <= newest_step || !IsComplete(entry.path())) continue;
    newest = entry.path();
    newest_step = *step;
  }
  return newest;
}

}  // namespace hyperopt

#include "search/socket_folder.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include "trial/clock.h"
#include "trial/errors.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLooksAStart = 200;
constexpr double kUntouchedS = 60;
// Whoever holds the lock above all folders looks at a few of them. One that was stopped
// meanwhile must not keep others from starting.
constexpr double kAboveAllS = 5;
constexpr double kKeeperLeavesS = 2;
constexpr auto kLook = std::chrono::milliseconds(5);

constexpr const char* kOwnLock = "controller.lock";
constexpr const char* kKeepersLock = "keeper.lock";
constexpr const char* kExecutorsLock = "executor.lock";

std::optional<FileLock> AcquireWithin(const fs::path& file, double seconds) {
  const Time until = ReadClocks().steady + Seconds(seconds);
  for (;;) {
    std::optional<FileLock> lock = FileLock::TryAcquire(file);
    if (lock || ReadClocks().steady > until) return lock;
    std::this_thread::sleep_for(kLook);
  }
}

std::optional<FileLock> LockAboveAll(const fs::path& folder) {
  return AcquireWithin(folder.parent_path() / "lock", kAboveAllS);
}

void MakePrivate(const fs::path& dir) {
  if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) {
    ThrowFileError(dir, "can not be made", errno);
  }
  struct stat info {};
  if (lstat(dir.c_str(), &info) != 0) ThrowFileError(dir, "can not be read", errno);
  const bool mine =
      S_ISDIR(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & 0077) == 0;
  if (!mine) {
    throw EnvironmentError(dir.string() +
                           ": is not a folder of this user alone (0700); remove it");
  }
}

// Whether somebody listens there: older versions hold no lock.
bool IsServed(const fs::path& socket_path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = socket_path.string();
  if (path.size() >= sizeof address.sun_path) return true;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return true;
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    return true;
  }
  return errno != ECONNREFUSED && errno != ENOENT;
}

bool IsUntouched(const fs::path& folder) {
  struct stat info {};
  if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  return std::difftime(std::time(nullptr), info.st_mtime) > kUntouchedS;
}

// The keeper's lock stays taken meanwhile: one that is about to begin fails, and is
// begun again.
void RemoveIfDead(const fs::path& folder) {
  std::error_code error;
  if (!IsUntouched(folder) || fs::exists(folder / kExecutorsLock, error)) return;
  if (FileLock::IsHeld(folder / kOwnLock)) return;
  std::optional<FileLock> keeper;
  if (fs::exists(folder / kKeepersLock, error)) {
    keeper = FileLock::TryAcquire(folder / kKeepersLock);
    if (!keeper) return;
  }
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".sock" && IsServed(entry.path())) return;
  }
  if (!error) fs::remove_all(folder, error);
}

}  // namespace

fs::path PrivateTmp(const std::string& what) {
  const fs::path mine = fmt::format("/tmp/hyperopt-{}", geteuid());
  MakePrivate(mine);
  const fs::path dir = mine / fmt::format("{:016x}", HashText(what));
  MakePrivate(dir);
  return dir;
}

SocketFolder SocketFolder::Take(const std::string& what) {
  return TakeAt(PrivateTmp(what));
}

SocketFolder SocketFolder::TakeAt(const fs::path& folder) {
  const std::optional<FileLock> above = LockAboveAll(folder);
  MakePrivate(folder);  // it may have been removed while that was awaited
  std::optional<FileLock> lock = FileLock::TryAcquire(folder / kOwnLock);
  if (above) RemoveDeadFolders(folder, kLooksAStart);
  return SocketFolder(folder, std::move(lock));
}

void SocketFolder::Remove() {
  try {
    // It leaves when its executor has.
    const auto keeper = AcquireWithin(path_ / kKeepersLock, kKeeperLeavesS);
    const auto above = LockAboveAll(path_);
    std::error_code error;
    if (keeper && above) fs::remove_all(path_, error);
  } catch (const Error&) {
    // It can not be written, or somebody has removed it.
  }
}

void RemoveDeadFolders(const fs::path& own, size_t most) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(own.parent_path(), error)) {
    const bool is_folder = entry.path().filename().string().size() == 16;
    if (is_folder && entry.path() != own) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  const auto next = std::ranges::upper_bound(folders, own);
  std::ranges::rotate(folders, next);
  if (folders.size() > most) folders.resize(most);
  for (const fs::path& folder : folders) {
    try {
      RemoveIfDead(folder);
    } catch (const Error&) {
      // It can not be read, or is going: nothing that this sweep needs.
    }
  }
}

}  // namespace hyperopt

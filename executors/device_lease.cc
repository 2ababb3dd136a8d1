#include "executors/device_lease.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "trial/errors.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr char kMutex[] = "mutex";

// False where it can not be made.
bool MakePrivateFolder(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat info {};
  if (lstat(folder.c_str(), &info) != 0) return false;
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
    throw EnvironmentError(fmt::format(
        "{}: is not a private folder of yours (mode 0700); GPU shares are kept in it",
        folder.native()));
  }
  return true;
}

// A UUID as a file name: nothing of it leads out of the folder.
std::string FileName(const std::string& device) {
  std::string name = device;
  std::replace(name.begin(), name.end(), '/', '_');
  return name.starts_with('.') ? "_" + name : name;
}

// The mutex of a device. It is held for microseconds; a holder that was stopped in
// between must not stop us, so this gives up after 50 ms.
UniqueFd TakeMutex(const fs::path& folder) {
  const fs::path path = folder / kMutex;
  UniqueFd mutex(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!mutex) ThrowFileError(path, "can not be made", errno);
  for (int tries = 0; tries < 50; ++tries) {
    if (flock(mutex.get(), LOCK_EX | LOCK_NB) == 0) return mutex;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return UniqueFd();
}

struct Holder {
  Share share;
  std::string who;
};

// "<micro shares> <who>\n"
std::optional<Holder> ReadHolder(const fs::path& file) {
  const auto text = ReadFile(file);
  if (!text) return std::nullopt;
  int64_t micro = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, micro);
  if (error != std::errc() || stop == end) return std::nullopt;
  std::string who(stop + 1, end);
  if (who.ends_with('\n')) who.pop_back();
  return Holder{Share::Micro(micro), std::move(who)};
}

// Removes what dead holders left. REQUIRES: the mutex is held.
std::vector<Holder> HoldersIn(const fs::path& folder) {
  std::vector<Holder> holders;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().filename() == kMutex) continue;
    const UniqueFd file(open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) continue;
    if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      unlink(entry.path().c_str());
    } else if (auto holder = ReadHolder(entry.path())) {
      holders.push_back(*std::move(holder));
    }
  }
  return holders;
}

}  // namespace

fs::path LeaseRoot() {
  const fs::path usual = fmt::format("/run/lock/hyperopt-{}", geteuid());
  if (MakePrivateFolder(usual)) return usual;
  fs::path other = fmt::format("/tmp/hyperopt-locks-{}", geteuid());
  if (!MakePrivateFolder(other)) ThrowFileError(other, "can not be made", errno);
  return other;
}

std::optional<DeviceLease> TryLease(const fs::path& root,
                                    const std::string& device,
                                    Share share,
                                    const std::string& who) {
  const fs::path folder = root / FileName(device);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    ThrowFileError(folder, "can not be made", errno);
  }
  const UniqueFd mutex = TakeMutex(folder);
  if (!mutex) return std::nullopt;
  Share sum = share;
  for (const Holder& holder : HoldersIn(folder)) sum += holder.share;
  if (sum > Share::Whole(1)) return std::nullopt;
  const fs::path path = folder / RandomHex(8);
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) ThrowFileError(path, "can not be made", errno);
  const std::string text = fmt::format("{} {}\n", share.micro(), who);
  const bool done =
      flock(file.get(), LOCK_SH | LOCK_NB) == 0 &&
      write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!done) {
    const int why = errno;
    unlink(path.c_str());
    ThrowFileError(path, "can not be written", why);
  }
  return DeviceLease(std::move(file), path);
}

std::optional<DeviceLease> JoinLease(const fs::path& path) {
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file || flock(file.get(), LOCK_SH | LOCK_NB) != 0) return std::nullopt;
  // Somebody may have removed it between the two.
  struct stat info {};
  if (fstat(file.get(), &info) != 0 || info.st_nlink == 0) return std::nullopt;
  return DeviceLease(std::move(file), path);
}

std::string Holders(const fs::path& root, const std::string& device) {
  std::string text;
  const fs::path folder = root / FileName(device);
  if (!fs::exists(folder)) return text;
  // A look takes each lock for a moment, and must not meet a holder that is just made.
  const UniqueFd mutex = TakeMutex(folder);
  if (!mutex) return text;
  for (const Holder& holder : HoldersIn(folder)) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} by {}", holder.share.ToText(), holder.who);
  }
  return text;
}

}  // namespace hyperopt

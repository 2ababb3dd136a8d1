#include "trial/fs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include "trial/errors.h"

namespace hyperopt {
namespace {

using Path = std::filesystem::path;

// Repeats a system call that a signal cut short.
template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

Path FolderOf(const Path& file) {
  const Path folder = file.parent_path();
  return folder.empty() ? Path(".") : folder;
}

// False with errno set where it fails.
bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = Retry([&] { return write(fd, text.data(), text.size()); });
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// False with errno set where it fails.
bool ReadAll(int fd, std::string* text) {
  std::array<char, 1 << 14> buffer;
  off_t offset = 0;
  while (true) {
    const ssize_t n =
        Retry([&] { return pread(fd, buffer.data(), buffer.size(), offset); });
    if (n < 0) return false;
    if (n == 0) return true;
    text->append(buffer.data(), static_cast<size_t>(n));
    offset += n;
  }
}

}  // namespace

void ThrowFileError(const Path& file, std::string_view what, int errno_value) {
  std::string text = file.string();
  text.append(": ").append(what).append(": ");
  throw EnvironmentError(text + std::generic_category().message(errno_value));
}

void UniqueFd::Reset(int fd) {
  if (fd_ >= 0) {
    const int kept = errno;
    // Not repeated on EINTR: Linux has closed it by then, and another thread may have
    // the number.
    close(fd_);
    errno = kept;
  }
  fd_ = fd;
}

void SyncFolder(const Path& folder) {
  const UniqueFd fd(
      Retry([&] { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd) ThrowFileError(folder, "can not be opened", errno);
  // Some file systems know no fsync of a folder (EINVAL); nothing more can be done
  // there.
  if (Retry([&] { return fsync(fd.get()); }) < 0 && errno != EINVAL) {
    ThrowFileError(folder, "can not be synced", errno);
  }
}

void WriteFileAtomically(const Path& file,
                         std::string_view text,
                         Durability durability,
                         unsigned mode) {
  const Path temporary = FolderOf(file) / (".tmp-" + RandomHex(8));
  UniqueFd fd(Retry([&] {
    return open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  }));
  if (!fd) ThrowFileError(file, "can not be created", errno);
  const auto fail = [&](std::string_view what) {
    const int error = errno;
    unlink(temporary.c_str());
    ThrowFileError(file, what, error);
  };
  if (!WriteAll(fd.get(), text)) fail("can not be written");
  if (durability == Durability::kMachine &&
      Retry([&] { return fsync(fd.get()); }) < 0) {
    fail("can not be synced");
  }
  // NFS and quotas tell of a failed write only here.
  if (close(fd.Release()) < 0 && errno != EINTR) fail("can not be written");
  if (rename(temporary.c_str(), file.c_str()) < 0) fail("can not be replaced");
  if (durability == Durability::kMachine) SyncFolder(FolderOf(file));
}

std::optional<std::string> ReadFile(const Path& file) {
  const UniqueFd fd(Retry([&] { return open(file.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (!fd) ThrowFileError(file, "can not be opened", errno);
  std::string text;
  if (!ReadAll(fd.get(), &text)) ThrowFileError(file, "can not be read", errno);
  return text;
}

std::optional<FileLock> FileLock::TryAcquire(const Path& file) {
  UniqueFd fd(
      Retry([&] { return open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644); }));
  if (!fd) ThrowFileError(file, "can not be opened", errno);
  // IsHeld holds the lock for microseconds; that must not look like an owner.
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (Retry([&] { return flock(fd.get(), LOCK_EX | LOCK_NB); }) == 0) {
      return FileLock(file, std::move(fd));
    }
    if (errno != EWOULDBLOCK) ThrowFileError(file, "can not be locked", errno);
  }
  return std::nullopt;
}

bool FileLock::IsHeld(const Path& file) {
  const UniqueFd fd(Retry([&] { return open(file.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) return false;
  if (!fd) ThrowFileError(file, "can not be opened", errno);
  // Shared, so that two that ask at once do not take each other for the holder.
  if (Retry([&] { return flock(fd.get(), LOCK_SH | LOCK_NB); }) == 0) return false;
  if (errno != EWOULDBLOCK) ThrowFileError(file, "can not be locked", errno);
  return true;
}

void FileLock::WriteText(std::string_view text) {
  if (ftruncate(fd_.get(), 0) < 0 || lseek(fd_.get(), 0, SEEK_SET) < 0 ||
      !WriteAll(fd_.get(), text)) {
    ThrowFileError(path_, "can not be written", errno);
  }
}

std::string FileLock::ReadText() const {
  std::string text;
  if (!ReadAll(fd_.get(), &text)) ThrowFileError(path_, "can not be read", errno);
  return text;
}

bool IsNetworkFileSystem(const Path& file) {
  // Most are in <linux/magic.h>; Lustre, GPFS, BeeGFS, CIFS' newer number and Ceph are
  // in their own sources (coreutils' src/stat.c lists them all).
  static constexpr uint32_t kMagic[] = {
      0x00006969,  // NFS
      0x0000517b,  // SMB
      0xff534d42,  // CIFS
      0xfe534d42,  // SMB2
      0x00c36400,  // Ceph
      0x5346414f,  // AFS
      0x6b414653,  // kAFS
      0x01021997,  // 9p
      0x65735546,  // FUSE
      0x0bd00bd0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
  };
  Path at = std::filesystem::absolute(file);
  struct statfs info {};
  while (Retry([&] { return statfs(at.c_str(), &info); }) < 0) {
    if ((errno != ENOENT && errno != ENOTDIR) || at == at.root_path()) {
      ThrowFileError(at, "its file system can not be told", errno);
    }
    at = at.parent_path();
  }
  return std::ranges::find(kMagic, static_cast<uint32_t>(info.f_type)) !=
         std::end(kMagic);
}

std::string RandomHex(int bytes) {
  assert(bytes >= 0 && bytes <= 256);  // getrandom never cuts a request of this size
  std::vector<unsigned char> random(static_cast<size_t>(bytes));
  if (Retry([&] { return getrandom(random.data(), random.size(), 0); }) != bytes) {
    ThrowFileError("/dev/urandom", "no random bytes from the kernel", errno);
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : random) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace hyperopt

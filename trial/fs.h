// Files as this project needs them: whole or not at all, locked, and with errors that
// name the path. Every failure is an EnvironmentError "PATH: what failed: why".
//
// All functions are thread-safe; objects are thread-compatible.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace hyperopt {

// Owns a file descriptor; -1 is none. Closes it when destroyed.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // Gives the descriptor away; the caller closes it.
  int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  // Closes what is held and holds `fd`. errno is kept.
  void Reset(int fd = -1);

 private:
  int fd_ = -1;
};

enum class Durability {
  // Survives a crash of any process: for what a process writes and another reads.
  kProcess,
  // Survives a crash of the machine too: fsync of the file and of its folder.
  kMachine,
};

// Replaces or creates `path` with `text`: a reader sees the old text or the new, never
// a part. Written to a name of its own in the same folder (the folder must exist), then
// renamed; a failure leaves `path` as it was and no other file behind. Mode 0644 less
// the umask, whatever the old file had, unless `mode` says otherwise.
void WriteFileAtomically(const std::filesystem::path& path,
                         std::string_view text,
                         Durability durability,
                         unsigned mode = 0644);

// The whole text; nullopt where there is no such file (or no such folder).
std::optional<std::string> ReadFile(const std::filesystem::path& path);

// fsync of a folder, so that a file made or renamed in it stays after a power cut.
void SyncFolder(const std::filesystem::path& folder);

// An exclusive flock on a file. Close-on-exec, so an exec'd child never holds it; a
// child that is only forked shares it, and the lock is free when all of them are gone.
// Freed by the destructor; the file stays (removing it would let two processes hold
// "the" lock on two inodes).
class FileLock {
 public:
  // Does not wait (but a few milliseconds, for an IsHeld that is just looking): nullopt
  // where another descriptor (of this process or another) holds it. Creates the file,
  // 0644 less the umask; throws where it can not be opened.
  static std::optional<FileLock> TryAcquire(const std::filesystem::path& path);
  // Whether somebody holds the lock; false where there is no file. An answer is old
  // when it is read: who wants to act on "free" takes the lock.
  static bool IsHeld(const std::filesystem::path& path);

  // What the holder says of itself, for others to read while it is held (ReadFile works
  // as well). Not atomic: a reader may meet an empty text.
  void WriteText(std::string_view text);
  std::string ReadText() const;

  const std::filesystem::path& path() const { return path_; }
  int fd() const { return fd_.get(); }

 private:
  FileLock(std::filesystem::path path, UniqueFd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  std::filesystem::path path_;
  UniqueFd fd_;
};

// Whether `path` (or the nearest folder above it that exists) lies on a file system
// shared between hosts, where SQLite's WAL does not work and inotify is silent: NFS,
// SMB, CIFS, Ceph, AFS, 9p, FUSE (sshfs and the like), Lustre, GPFS, BeeGFS.
bool IsNetworkFileSystem(const std::filesystem::path& path);

// 2 * `bytes` hex digits from the kernel's random source.
std::string RandomHex(int bytes);

// An EnvironmentError "PATH: WHAT: strerror(errno_value)".
[[noreturn]] void ThrowFileError(const std::filesystem::path& path,
                                 std::string_view what,
                                 int errno_value);

}  // namespace hyperopt

// The folder of a sweep: results/<name>/ with sweep.db, trials/, lock, sweep.id and
// logs; and its sockets' folder under /tmp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "search/socket_folder.h"
#include "trial/fs.h"

namespace hyperopt {

// Who holds a sweep's lock, as its text says.
struct LockHolder {
  std::string host;
  int64_t pid = 0;
  std::string started;  // local time, for a person
  std::filesystem::path sockets;
};

// The lock of one controller on one folder. Held until destroyed.
class SweepFolder {
 public:
  // Makes the folder where it is absent and takes its lock. Throws ConfigError naming
  // host, pid and start of the holder; EnvironmentError where the folder can not be
  // made or written.
  static SweepFolder Take(const std::filesystem::path& dir);

  // Moves the folder's old content to <dir>.old-<n>, n the first free number, and takes
  // the new, empty one. Returns where the old one is.
  std::filesystem::path StartOver();

  // Takes (0700, owner checked) /tmp/hyperopt-<uid>/<16 hex>, the hex a hash of sweep
  // id and canonical folder, and writes the holder's words into the lock.
  std::filesystem::path MakeSockets(const std::string& sweep_id);
  // At the end, when nobody answers there any more.
  void RemoveSockets();

  const std::filesystem::path& dir() const { return dir_; }
  std::filesystem::path database() const { return dir_ / "sweep.db"; }

 private:
  SweepFolder(std::filesystem::path dir, FileLock lock)
      : dir_(std::move(dir)), lock_(std::move(lock)) {}

  std::filesystem::path dir_;
  FileLock lock_;
  std::optional<SocketFolder> sockets_;
};

// The living controller of a folder; nullopt where there is none.
std::optional<LockHolder> FindController(const std::filesystem::path& dir);

// The newest sweep under `results` by its database's time; nullopt where there is none.
std::optional<std::filesystem::path> NewestSweep(const std::filesystem::path& results);

}  // namespace hyperopt

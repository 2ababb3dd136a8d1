// The small folders under /tmp/hyperopt-<uid>, one a sweep, with what must lie on a
// local disk by a short path: sockets, the keeper's lock.
//
// Who uses one holds a lock in it: the controller controller.lock, the keeper
// keeper.lock. One that is taken, and those that are removed, are so under one lock
// above them all: no one begins in a folder that another one removes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trial/fs.h"

namespace hyperopt {

// A private folder of this user under /tmp: /tmp/hyperopt-<uid>/<hex of what>. Throws
// EnvironmentError where it belongs to someone else or can not be made.
std::filesystem::path PrivateTmp(const std::string& what);

class SocketFolder {
 public:
  // Makes PrivateTmp(what) and locks it; removes some of those that dead sweeps left
  // (each start a few, so that many cost no one much).
  static SocketFolder Take(const std::string& what);
  // The same in another place; the folder above it is there.
  static SocketFolder TakeAt(const std::filesystem::path& folder);

  // Removes it, unless its keeper stays: then a later start does. Never throws.
  void Remove();

  const std::filesystem::path& path() const { return path_; }

 private:
  SocketFolder(std::filesystem::path path, std::optional<FileLock> lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  std::optional<FileLock> lock_;
};

// Removes of the folders beside `own` those that nobody uses, of at most `most` that
// are looked at, from `own` on in the order of their names. Left alone are those of
// executors that were started by hand (a restart needs what they hold), and what
// changed within the last minute.
void RemoveDeadFolders(const std::filesystem::path& own, size_t most);

}  // namespace hyperopt

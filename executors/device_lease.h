// Shares of a GPU across the sweeps of a machine. Each holder has a file with its share
// under <root>/<device>/, which it keeps locked (flock, shared); the sum of the locked
// ones never passes one whole device. A holder that dies, by kill -9 too, frees its
// share by that. An executor holds a share for its run, and the keeper joins it, so
// that it lasts as long as the run's processes do, whatever becomes of the executor.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trial/fs.h"
#include "trial/resources.h"

namespace hyperopt {

// Held as long as this one or another of the same file lives.
class DeviceLease {
 public:
  DeviceLease(DeviceLease&&) noexcept = default;
  DeviceLease& operator=(DeviceLease&&) noexcept = default;

  // To be joined by another process.
  const std::filesystem::path& path() const { return path_; }

 private:
  friend std::optional<DeviceLease> TryLease(const std::filesystem::path&,
                                             const std::string&,
                                             Share,
                                             const std::string&);
  friend std::optional<DeviceLease> JoinLease(const std::filesystem::path&);
  DeviceLease(UniqueFd file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}
  UniqueFd file_;
  std::filesystem::path path_;
};

// /run/lock/hyperopt-<uid>, or /tmp/hyperopt-locks-<uid> where that can not be made.
// Throws EnvironmentError where the folder belongs to somebody else.
std::filesystem::path LeaseRoot();

// `device` is a name that all sweeps of the machine share: a UUID (DeviceUuid of
// local_resources.h), never an index into a mask. `who` is for people: the sweep's
// folder. nullopt where the rest of the device is too small. Does not wait.
std::optional<DeviceLease> TryLease(const std::filesystem::path& root,
                                    const std::string& device,
                                    Share share,
                                    const std::string& who);

// The lease of that path, too. nullopt where nobody holds it any more.
std::optional<DeviceLease> JoinLease(const std::filesystem::path& path);

// Who holds the device: "0.5 by /a/sweep, 0.5 by /another"; "" where nobody does.
std::string Holders(const std::filesystem::path& root, const std::string& device);

}  // namespace hyperopt

// Which CPUs the trials of this machine are pinned to: whole ones, each to one trial,
// also across the sweeps of one user.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executors/device_lease.h"
#include "trial/ids.h"
#include "trial/resources.h"

namespace hyperopt {

class CpuPins {
 public:
  // `cpus`: those that this process may use, in the order in which they are given away.
  // `lease_root` as for device leases, `who` is the sweep's folder.
  CpuPins(std::vector<int> cpus, std::filesystem::path lease_root, std::string who);

  // CPUs for each rank; empty lists where they are not pinned: a share of a CPU, or too
  // few CPUs are free (an executor may offer more than the machine has). All or none.
  // Throws EnvironmentError where leases can not be kept.
  std::vector<std::vector<int>> Take(const RunKey& key, int ranks, Share cpus_per_rank);
  // Those of `before`, too, which gives them back first; empty lists where it has none.
  std::vector<std::vector<int>> TakeOver(const RunKey& key,
                                         const RunKey& before,
                                         int ranks);
  // Those of a run that was started by an earlier executor.
  void Adopt(const RunKey& key, const std::vector<int>& cpus);
  void GiveBack(const RunKey& key) { taken_.erase(key); }
  // The paths of the leases that a run has.
  std::vector<std::string> LeasesOf(const RunKey& key) const;
  bool Holds(const RunKey& key) const { return taken_.contains(key); }

 private:
  struct Held {
    int cpu = 0;
    std::shared_ptr<DeviceLease> lease;  // of all who hold it
  };

  // The CPUs of each rank.
  static std::vector<std::vector<int>> Split(const std::vector<Held>& held, int ranks);
  bool IsTaken(int cpu) const;
  std::shared_ptr<DeviceLease> Lease(int cpu) const;

  const std::vector<int> cpus_;
  const std::filesystem::path lease_root_;
  const std::string who_;
  std::map<RunKey, std::vector<Held>> taken_;
};

// The CPUs that a process may run on, ascending; empty where it is gone.
std::vector<int> AffinityOf(int pid);

// The CPUs of this process by affinity, those of a core and of a socket next to each
// other.
std::vector<int> CpusToPin();

}  // namespace hyperopt

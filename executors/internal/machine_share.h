// What of this machine the runs of an executor hold: shares of devices, leased against
// other sweeps, CPUs of their own, and memory of devices that others use too.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executors/cpu_pins.h"
#include "executors/device_lease.h"
#include "executors/device_watch.h"
#include "executors/messages.h"
#include "executors/nvml.h"
#include "trial/clock.h"

namespace hyperopt {

class MachineShare {
 public:
  // What one launch was given.
  struct Granted {
    std::vector<DeviceLease> leases;     // held as long as they live
    std::vector<std::vector<int>> cpus;  // by rank; empty lists: not pinned
    std::vector<std::string> paths;      // of all leases, those of CPUs too
  };
  struct Refusal {
    std::string why;         // for people
    bool elsewhere = false;  // another device may have room: it should not wait long
  };

  // The devices that this executor offers, and the sweep whose trials get them.
  void Use(const std::vector<Device>& offered, const SweepSpec& sweep);

  // Either `granted` is filled or it is said who is in the way, and nothing is held.
  // Throws EnvironmentError where leases can not be kept.
  std::optional<Refusal> Take(const Launch& launch, Granted* granted);
  // The keeper says that a run has these leaders. What a run that an earlier executor
  // started holds is read from its processes.
  void Started(const RunKey& key, const std::vector<int32_t>& pids);
  // Whether an ended run may be forgotten: the driver has let go of its processes, or
  // has not for ten seconds.
  bool SeenFree(const RunKey& key, Time now);
  void GiveBack(const RunKey& key);

  // Asks the driver, where there is one. News is empty unless the sweep places trials
  // by free memory.
  std::vector<DeviceNews> Look();

 private:
  std::optional<Refusal> LeaseDevices(const Launch& launch, Granted* granted) const;
  std::optional<Refusal> CheckMemory(const Launch& launch);

  std::vector<Device> offered_;
  const SweepSpec* sweep_ = nullptr;
  std::map<std::string, std::string> uuids_;  // of real devices, by their names
  std::unique_ptr<Nvml> nvml_;
  std::optional<DeviceWatch> watch_;
  std::optional<CpuPins> pins_;
  std::map<RunKey, Time> held_since_;  // ended, and still in a device's list
};

}  // namespace hyperopt

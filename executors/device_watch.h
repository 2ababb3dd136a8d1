// What is free on the devices of this machine, and who fills them: this sweep's own
// trials are told from others' processes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executors/messages.h"
#include "executors/nvml.h"
#include "trial/ids.h"

namespace hyperopt {

class DeviceWatch {
 public:
  // HYPEROPT_TOKEN of a process; nullopt where it has none or can not be asked.
  using TokenOf = std::function<std::optional<std::string>(int64_t pid)>;

  // `uuids`: how the driver names the devices that are given away, by the names that
  // trials are given ("0" -> "GPU-..."). A device that is not in it is not watched.
  // REQUIRES: `nvml` outlives this object.
  DeviceWatch(const Nvml& nvml,
              std::map<std::string, std::string> uuids,
              TokenOf token_of);

  // A run is about to start, or was found running: `token` is its ranks' without
  // "-<rank>". `memory` bytes of each of its devices are kept for it until it holds
  // them.
  void Begin(const RunKey& key,
             const std::string& token,
             std::set<std::string> devices,
             int64_t memory);
  void NoteLeaders(const RunKey& key, const std::vector<int32_t>& pids);
  void End(const RunKey& key) { runs_.erase(key); }
  bool watches(const RunKey& key) const { return runs_.contains(key); }

  // Asks the driver anew. All below answers from the last look.
  void Look();

  // Whether a process of this run is still in a list of its devices: one that has ended
  // holds its memory until the driver has let go of it.
  bool Holds(const RunKey& key) const;
  // Free for another trial: what is free, less what own trials have yet to take. -1
  // where the driver does not say.
  int64_t FreeOf(const std::string& device) const;
  // "3 GiB of 80 GiB free; held by python3 (pid 4711, alice): 70 GiB", for people.
  std::string Words(const std::string& device) const;
  // Of each of `devices`, as a heartbeat tells it.
  std::vector<DeviceNews> News(const std::vector<Device>& devices) const;

 private:
  struct Run {
    std::string token;
    std::set<std::string> devices;
    int64_t memory = 0;
    std::set<int64_t> pids;  // its processes that were ever seen
  };

  void Attribute(const DeviceProcess& process);
  std::optional<RunKey> OwnerOf(int64_t pid) const;
  // Bytes of a device that a run was promised and does not hold yet.
  int64_t Pending(const RunKey& key, const Run& run, const DeviceLoad& load) const;

  const Nvml& nvml_;
  const std::map<std::string, std::string> uuids_;
  const TokenOf token_of_;
  std::map<RunKey, Run> runs_;
  std::map<std::string, DeviceLoad> loads_;  // by the names trials are given
  std::set<int64_t> strangers_;              // pids of no run of ours, at the last look
};

// "python3 (pid 4711, alice)", as far as /proc tells.
std::string ProcessWords(int64_t pid);

}  // namespace hyperopt

// How much device memory one sweep's processes held at most, seen from outside by
// looking now and then.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executors/nvml.h"

namespace hyperopt {

// Thread-compatible; may be made on one thread and used on another.
class DevicePeak {
 public:
  // Of the processes that `sweep_id` stands in the token of. Where the driver's library
  // is absent nothing is ever seen. May take a second (Nvml::Open).
  explicit DevicePeak(std::string sweep_id);

  void Look();
  // Bytes, all devices together; 0 where nothing was seen.
  int64_t bytes() const { return peak_; }

 private:
  const std::string sweep_id_;
  std::unique_ptr<Nvml> nvml_;
  std::vector<std::string> uuids_;
  int64_t peak_ = 0;
};

}  // namespace hyperopt

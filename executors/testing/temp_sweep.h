// A sweep's folder for tests.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace hyperopt::testing {

// Fresh, removed with the object. Its name holds a space on purpose.
class TempSweep {
 public:
  TempSweep() {
    std::string name = std::filesystem::temp_directory_path() / "ho sweep.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  TempSweep(const TempSweep&) = delete;
  TempSweep& operator=(const TempSweep&) = delete;
  ~TempSweep() { std::filesystem::remove_all(folder_); }
  const std::filesystem::path& dir() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace hyperopt::testing

// A folder of a test's own, with a space in its name, gone when the test ends.
#pragma once

#include <filesystem>

#include "trial/fs.h"

namespace hyperopt {

class StoreFolder {
 public:
  StoreFolder()
      : path_(std::filesystem::temp_directory_path() / ("a store " + RandomHex(8))) {
    std::filesystem::create_directory(path_);
  }
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;
  ~StoreFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hyperopt

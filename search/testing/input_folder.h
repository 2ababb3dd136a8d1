// A folder of a test's own, for files that a search file names.
#pragma once

#include <filesystem>
#include <string>

#include "trial/fs.h"

namespace hyperopt::testing {

class InputFolder {
 public:
  InputFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("some inputs " + RandomHex(8))) {
    std::filesystem::create_directories(path_);
  }
  ~InputFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;

  void Write(const std::string& name, const std::string& text) {
    WriteFileAtomically(path_ / name, text, Durability::kProcess);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hyperopt::testing

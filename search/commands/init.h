// hyperopt init: a search file to start from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hyperopt {

struct InitOptions {
  std::vector<std::string> words;  // of the program, as they would be typed
  std::optional<std::filesystem::path> dataset;
  std::optional<std::string> target;  // the dataset's column to learn
  std::filesystem::path output = "search.yaml";
  bool force = false;  // an existing file is written over
};

// Writes a commented search file that `hyperopt check` accepts, and says what to type
// next. Throws ConfigError where there is nothing to search, and where the file is
// there already.
int InitCommand(const InitOptions& options);

}  // namespace hyperopt

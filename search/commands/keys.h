// Small commands: keys for executors elsewhere, the version.
#pragma once

#include <filesystem>

namespace hyperopt {

struct KeygenOptions {
  std::filesystem::path file;
};
int KeygenCommand(const KeygenOptions& options);

int VersionCommand();

}  // namespace hyperopt

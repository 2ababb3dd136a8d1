#include "search/workdir.h"

#include <fmt/format.h>

#include <filesystem>

#include "search/snapshot.h"
#include "trial/errors.h"

namespace hyperopt {

namespace fs = std::filesystem;

void RequireWorkdir(const SearchConfig& config) {
  if (config.workdir.empty() || config.workdir == "trial") return;
  if (config.workdir == "snapshot") {
    RequireCheckout(fs::current_path(),
                    config.file.empty() ? fs::current_path()
                                        : fs::absolute(config.file).parent_path());
    return;
  }
  const fs::path folder = fs::current_path() / config.workdir;
  std::error_code error;
  if (fs::is_directory(folder, error)) return;
  throw ConfigError(fmt::format(
      "workdir: {} is no folder, and trials are to run in it. Ways out: make it, or "
      "another workdir",
      folder.string()));
}

}  // namespace hyperopt

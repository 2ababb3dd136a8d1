#include "search/commands/sweep_dir.h"

#include "search/sweep_folder.h"
#include "trial/errors.h"

namespace hyperopt {

std::filesystem::path SweepDirOf(const std::optional<std::filesystem::path>& dir) {
  if (dir) {
    // sweep.db itself is taken as well: it is what a shell's completion offers.
    return dir->filename() == "sweep.db" ? dir->parent_path() : *dir;
  }
  std::optional<std::filesystem::path> newest = NewestSweep("results");
  if (!newest) {
    throw ConfigError(
        "there is no sweep under results/: name the sweep's folder, or start one with "
        "hyperopt --config search.yaml");
  }
  return *newest;
}

}  // namespace hyperopt

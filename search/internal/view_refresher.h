// Keeps the record's view `trials` up to date: parameters and fields that come later.
#pragma once

#include <cstdint>
#include <filesystem>

#include "search/config.h"
#include "trial/trials_view.h"

namespace hyperopt::internal {

// Used between commits, from the writer's thread. A view that can not be made is tried
// again later: nothing depends on it.
class ViewRefresher {
 public:
  ViewRefresher(const SearchConfig& config, std::filesystem::path database);

  void Refresh();
  // After the first end, and whenever they have doubled since.
  void OnTurn(int64_t finished) {
    if (finished >= next_) RefreshAfter(finished);
  }

 private:
  void RefreshAfter(int64_t finished);

  const std::filesystem::path database_;
  TrialsViewOptions options_;
  int64_t next_ = 1;
};

}  // namespace hyperopt::internal

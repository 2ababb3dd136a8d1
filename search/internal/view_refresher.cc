#include "search/internal/view_refresher.h"

#include "trial/errors.h"

namespace hyperopt::internal {

ViewRefresher::ViewRefresher(const SearchConfig& config, std::filesystem::path database)
    : database_(std::move(database)) {
  options_.metric = config.metric_field();
  options_.last = config.value == ValueRule::kLast;
  for (const Parameter& parameter : config.space.parameters()) {
    options_.parameters.push_back(parameter.name);
  }
}

void ViewRefresher::Refresh() {
  try {
    RefreshTrialsView(database_, options_);
  } catch (const EnvironmentError&) {
    // The disk is full, say: the sweep has its own ways with that.
  }
}

void ViewRefresher::RefreshAfter(int64_t finished) {
  next_ = 2 * finished;
  Refresh();
}

}  // namespace hyperopt::internal

// What `hyperopt-train --check` says of a config and its data.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trainer/dataset.h"
#include "trainer/options.h"
#include "trainer/schema.h"

namespace hyperopt {

// A config and its data as the loop needs them; `errors` says why they are not there.
struct LoadedJob {
  std::vector<SchemaError> errors;
  ModelConfig config;
  std::optional<Dataset> data;
  nlohmann::ordered_json resolved() const;
};

// Reads config and data, and gathers all that is wrong with them. A data set of the
// config that is a relative path is looked for beside the config file. Throws
// ConfigError where the config file itself can not be read.
LoadedJob LoadJob(const TrainerOptions& options);

// {"errors": [{"path", "message"}], "metrics": [...], "steps_per_epoch": n, "rows":
// {"train", "validation", "test"}, "config": {...}}; only `errors` where there are any.
nlohmann::ordered_json CheckReport(const LoadedJob& job, int ranks);

}  // namespace hyperopt

// Which rows are trained on, validated on and tested on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/model_config.h"

namespace hyperopt {

// Row numbers, ascending, each in at most one list.
struct SplitRows {
  std::vector<int64_t> train;
  std::vector<int64_t> validation;
  std::vector<int64_t> test;
};

// Splits `rows`. The same config and rows give the same split in every trial, process
// and rank: the seed is the config's own (`preprocessing.split.random_seed`), never the
// trial's, so all trials of a sweep are compared on the same rows.
//
// random: shuffled, then cut at the probabilities. stratify: the same within each value
// of `column`. fixed: `column` holds 0, 1, 2 or train, validation, test; an empty field
// leaves the row out. `column` is parallel to `rows` and empty for random. Throws
// ConfigError where the column holds something else or no row is left to train on.
SplitRows SplitDataset(const SplitConfig& config,
                       const std::vector<int64_t>& rows,
                       const std::vector<std::string>& column);

// The rows in an order that depends on (seed, stream) alone.
void ShuffleRows(std::vector<int64_t>& rows, uint64_t seed, const std::string& stream);

}  // namespace hyperopt

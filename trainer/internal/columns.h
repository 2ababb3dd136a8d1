// Turns one column of texts into numbers; a part of BuildDataset.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trainer/dataset.h"

namespace hyperopt {

enum class ColumnRole { kInput, kOutput };

struct ColumnTask {
  std::string path;  // of the feature in the config, for errors
  std::string column;
  FeatureType type;
  const PreprocessingConfig& preprocessing;
  ColumnRole role;
  // The place of each kept row in the table, for errors.
  std::span<const int64_t> row_numbers = {};
};

struct EncodedColumn {
  std::vector<float> values;
  ColumnInfo info;
};

// `cells` are the kept rows of the table, `train` the positions in it to learn from.
EncodedColumn EncodeColumn(const ColumnTask& task,
                           const std::vector<std::string>& cells,
                           const std::vector<int64_t>& train);

}  // namespace hyperopt

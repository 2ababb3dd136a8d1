// A table of texts turned into numbers that a model can read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/csv.h"
#include "trainer/model_config.h"
#include "trainer/split.h"

namespace hyperopt {

// How one column was turned into numbers.
struct ColumnInfo {
  // number: a cell holds (x - shift) / scale.
  double shift = 0;
  double scale = 1;
  // category: the class of each index. Of an input, 0 is <UNK>, for values not seen in
  // the training rows; an output has its own classes only.
  std::vector<std::string> vocabulary;
  // binary: the text that means true; "" where it is one of the usual words.
  std::string true_label;
};

// All rows, encoded. A cell of a number is normalised, of a category its index, of a
// binary 0 or 1. Row-major: cell (row, feature) of the inputs is
// inputs[row * input_info.size() + feature].
struct Dataset {
  std::vector<float> inputs;
  std::vector<float> targets;
  std::vector<ColumnInfo> input_info;   // parallel to ModelConfig::inputs
  std::vector<ColumnInfo> target_info;  // parallel to ModelConfig::outputs
  int64_t rows = 0;                     // those left by drop_row
  SplitRows split;
};

// Encodes and splits. What is learned from the data (means, ranges, modes, an input's
// classes) is learned from the training rows alone; only an output's classes come from
// all rows. Throws ConfigError that lists every missing column with the nearest name
// (`input_features.3.column: ...`), or names the row of a cell that is no number or
// boolean, a category output with fewer than two classes, and data without rows.
Dataset BuildDataset(const ModelConfig& config, const Table& table);

// Empty, or one of the words for "no value" that Ludwig's users have in their tables
// (NA, N/A, NaN, nan, null, NULL, None and the like).
bool IsMissing(std::string_view cell);

}  // namespace hyperopt

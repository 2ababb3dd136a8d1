#include "trainer/dataset.h"

#include <fmt/format.h>

#include <array>

#include "trainer/internal/columns.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

std::vector<ColumnTask> Tasks(const ModelConfig& config) {
  std::vector<ColumnTask> tasks;
  for (size_t i = 0; i < config.inputs.size(); ++i) {
    const InputFeature& feature = config.inputs[i];
    tasks.push_back({fmt::format("input_features.{}", i),
                     feature.column,
                     feature.type,
                     feature.preprocessing,
                     ColumnRole::kInput});
  }
  for (size_t i = 0; i < config.outputs.size(); ++i) {
    const OutputFeature& feature = config.outputs[i];
    tasks.push_back({fmt::format("output_features.{}", i),
                     feature.column,
                     feature.type,
                     feature.preprocessing,
                     ColumnRole::kOutput});
  }
  return tasks;
}

// Every column that the table lacks, at once.
void CheckColumns(const std::vector<ColumnTask>& tasks,
                  const SplitConfig& split,
                  const Table& table) {
  std::string errors;
  const auto check = [&](const std::string& column, const std::string& path) {
    if (table.Find(column)) return;
    const auto nearest = NearestName(column, table.names);
    errors += fmt::format("{}{}: the data has no column {}{}",
                          errors.empty() ? "" : "\n",
                          path,
                          column,
                          nearest ? fmt::format("; did you mean {}?", *nearest) : "");
  };
  for (const ColumnTask& task : tasks) check(task.column, task.path + ".column");
  if (split.type != "random") check(split.column, "preprocessing.split.column");
  if (!errors.empty()) throw ConfigError(errors);
}

std::vector<int64_t> KeptRows(const std::vector<ColumnTask>& tasks,
                              const Table& table) {
  std::vector<int64_t> kept;
  for (size_t row = 0; row < table.rows(); ++row) {
    bool keep = true;
    for (const ColumnTask& task : tasks) {
      if (task.preprocessing.missing != MissingValues::kDropRow) continue;
      keep = keep && !IsMissing(table.columns[*table.Find(task.column)][row]);
    }
    if (keep) kept.push_back(static_cast<int64_t>(row));
  }
  if (kept.empty()) throw ConfigError("drop_row leaves no row of the data");
  return kept;
}

std::vector<std::string> Pick(const std::vector<std::string>& column,
                              const std::vector<int64_t>& rows) {
  std::vector<std::string> picked;
  picked.reserve(rows.size());
  for (int64_t row : rows) picked.push_back(column[row]);
  return picked;
}

void Scatter(const std::vector<float>& column,
             size_t feature,
             size_t width,
             std::vector<float>& matrix) {
  matrix.resize(column.size() * width);
  for (size_t row = 0; row < column.size(); ++row) {
    matrix[row * width + feature] = column[row];
  }
}

}  // namespace

bool IsMissing(std::string_view cell) {
  constexpr std::array kWords = {"",
                                 "NA",
                                 "N/A",
                                 "n/a",
                                 "#N/A",
                                 "<NA>",
                                 "NaN",
                                 "nan",
                                 "-NaN",
                                 "-nan",
                                 "null",
                                 "NULL",
                                 "None"};
  for (const char* word : kWords) {
    if (cell == word) return true;
  }
  return false;
}

Dataset BuildDataset(const ModelConfig& config, const Table& table) {
  std::vector<ColumnTask> tasks = Tasks(config);
  CheckColumns(tasks, config.split, table);
  const std::vector<int64_t> kept = KeptRows(tasks, table);

  Dataset data;
  data.rows = static_cast<int64_t>(kept.size());
  std::vector<int64_t> positions(kept.size());
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
  std::vector<std::string> split_column;
  if (config.split.type != "random") {
    split_column = Pick(table.columns[*table.Find(config.split.column)], kept);
  }
  data.split = SplitDataset(config.split, positions, split_column);

  for (size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].row_numbers = kept;
    const auto cells = Pick(table.columns[*table.Find(tasks[i].column)], kept);
    EncodedColumn encoded = EncodeColumn(tasks[i], cells, data.split.train);
    if (i < config.inputs.size()) {
      Scatter(encoded.values, i, config.inputs.size(), data.inputs);
      data.input_info.push_back(std::move(encoded.info));
    } else {
      const size_t output = i - config.inputs.size();
      Scatter(encoded.values, output, config.outputs.size(), data.targets);
      data.target_info.push_back(std::move(encoded.info));
    }
  }
  return data;
}

}  // namespace hyperopt

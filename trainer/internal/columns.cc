#include "trainer/internal/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

constexpr const char* kUnknown = "<UNK>";

using Cells = std::vector<std::string>;
using Rows = std::vector<int64_t>;

[[noreturn]] void FailCell(const ColumnTask& task, size_t row, std::string_view what) {
  throw ConfigError(fmt::format("{}: column {}, row {}: {}",
                                task.path,
                                task.column,
                                task.row_numbers[row] + 1,
                                what));
}

// The commonest present value of the training rows, the first in order of ties.
std::optional<std::string> Mode(const Cells& cells, const Rows& train) {
  std::map<std::string, int64_t> counts;
  for (int64_t row : train) {
    if (!IsMissing(cells[row])) ++counts[cells[row]];
  }
  if (counts.empty()) return std::nullopt;
  return std::max_element(
             counts.begin(),
             counts.end(),
             [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::optional<double> ParseNumber(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

double MeanOf(const std::vector<double>& values, const Rows& rows) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t row : rows) {
    if (std::isnan(values[row])) continue;
    sum += values[row];
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

double NumberFill(const ColumnTask& task,
                  const Cells& cells,
                  const std::vector<double>& values,
                  const Rows& train) {
  const PreprocessingConfig& config = task.preprocessing;
  if (config.missing == MissingValues::kFillMean) return MeanOf(values, train);
  std::string text = config.fill_value.empty() ? "0" : config.fill_value;
  if (config.missing == MissingValues::kFillMode)
    text = Mode(cells, train).value_or("0");
  const auto value = ParseNumber(text);
  if (!value) {
    throw ConfigError(fmt::format(
        "{}.preprocessing.fill_value: {} is not a number", task.path, text));
  }
  return *value;
}

void LearnScale(const std::vector<double>& values,
                const Rows& train,
                const std::string& normalization,
                ColumnInfo& info) {
  if (normalization == "zscore") {
    info.shift = MeanOf(values, train);
    double squares = 0;
    for (int64_t row : train) squares += std::pow(values[row] - info.shift, 2);
    info.scale = std::sqrt(squares / static_cast<double>(train.size()));
  } else if (normalization == "minmax") {
    double low = INFINITY;
    double high = -INFINITY;
    for (int64_t row : train) {
      low = std::min(low, values[row]);
      high = std::max(high, values[row]);
    }
    info.shift = low;
    info.scale = high - low;
  }
  // A constant column carries nothing; it must not blow up rounding noise either.
  if (!(info.scale > 1e-12 * std::max(1.0, std::abs(info.shift)))) info.scale = 1;
}

EncodedColumn EncodeNumber(const ColumnTask& task,
                           const Cells& cells,
                           const Rows& train) {
  std::vector<double> values(cells.size(), NAN);
  for (size_t row = 0; row < cells.size(); ++row) {
    if (IsMissing(cells[row])) continue;
    const auto value = ParseNumber(cells[row]);
    if (!value) FailCell(task, row, fmt::format("{} is not a number", cells[row]));
    values[row] = *value;
  }
  const double fill = NumberFill(task, cells, values, train);
  for (double& value : values) {
    if (std::isnan(value)) value = fill;
  }
  EncodedColumn encoded;
  LearnScale(values, train, task.preprocessing.normalization, encoded.info);
  for (double value : values) {
    encoded.values.push_back(
        static_cast<float>((value - encoded.info.shift) / encoded.info.scale));
  }
  return encoded;
}

// The classes by falling count, then by name: Ludwig's order, but never by chance.
std::vector<std::string> Classes(const Cells& cells, const Rows& rows, int64_t limit) {
  std::map<std::string, int64_t> counts;
  for (int64_t row : rows) ++counts[cells[row]];
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  std::vector<std::string> names;
  for (const auto& [name, count] : sorted) {
    if (static_cast<int64_t>(names.size()) == limit) break;
    if (name != kUnknown) names.push_back(name);
  }
  return names;
}

Cells FillCategory(const ColumnTask& task, Cells cells, const Rows& train) {
  const PreprocessingConfig& config = task.preprocessing;
  std::string fill = config.fill_value.empty() ? kUnknown : config.fill_value;
  if (config.missing == MissingValues::kFillMode) {
    fill = Mode(cells, train).value_or(fill);
  }
  for (std::string& cell : cells) {
    if (IsMissing(cell)) cell = fill;
    if (!config.lowercase || cell == kUnknown) continue;
    for (char& c : cell)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return cells;
}

EncodedColumn EncodeCategory(const ColumnTask& task,
                             const Cells& raw,
                             const Rows& train) {
  const Cells cells = FillCategory(task, raw, train);
  Rows rows = train;
  if (task.role == ColumnRole::kOutput) {
    rows.resize(cells.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  }
  std::vector<std::string> classes =
      Classes(cells, rows, task.preprocessing.most_common);
  const bool unknown_class =
      task.role == ColumnRole::kInput ||
      std::find(cells.begin(), cells.end(), kUnknown) != cells.end() ||
      static_cast<int64_t>(classes.size()) == task.preprocessing.most_common;
  if (unknown_class) classes.insert(classes.begin(), kUnknown);
  if (task.role == ColumnRole::kOutput && classes.size() < 2) {
    throw ConfigError(
        fmt::format("{}: column {} has only the class {}; nothing to learn",
                    task.path,
                    task.column,
                    classes.empty() ? "(none)" : classes[0]));
  }
  std::map<std::string, float> index;
  for (size_t i = 0; i < classes.size(); ++i) index[classes[i]] = static_cast<float>(i);
  EncodedColumn encoded;
  for (const std::string& cell : cells) {
    const auto found = index.find(cell);
    encoded.values.push_back(found == index.end() ? 0 : found->second);
  }
  encoded.info.vocabulary = std::move(classes);
  return encoded;
}

std::optional<bool> UsualBoolean(std::string_view text) {
  constexpr std::array kTrue = {"true", "t", "yes", "y", "1", "1.0", "on"};
  constexpr std::array kFalse = {"false", "f", "no", "n", "0", "0.0", "off"};
  std::string lower(Trim(text));
  for (char& c : lower)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : kTrue) {
    if (lower == word) return true;
  }
  for (const char* word : kFalse) {
    if (lower == word) return false;
  }
  return std::nullopt;
}

// "" where every cell is a usual word for true or false; else the label that means
// true.
std::string TrueLabel(const ColumnTask& task, const Cells& cells) {
  std::map<std::string, size_t> unusual;
  std::map<std::string, size_t> values;
  for (size_t row = 0; row < cells.size(); ++row) {
    if (IsMissing(cells[row])) continue;
    values.emplace(cells[row], row);
    if (!UsualBoolean(cells[row])) unusual.emplace(cells[row], row);
  }
  const std::string& wanted = task.preprocessing.fallback_true_label;
  if (!wanted.empty()) return wanted;
  if (unusual.empty()) return "";
  const auto& [value, row] = *unusual.begin();
  if (values.size() > 2) {
    FailCell(
        task,
        row,
        fmt::format(
            "{} is not a boolean; the column has {} values", value, values.size()));
  }
  FailCell(task,
           row,
           fmt::format("{} is not a boolean; say which text means true with "
                       "preprocessing.fallback_true_label",
                       value));
}

EncodedColumn EncodeBinary(const ColumnTask& task,
                           const Cells& cells,
                           const Rows& train) {
  const PreprocessingConfig& config = task.preprocessing;
  EncodedColumn encoded;
  encoded.info.true_label = TrueLabel(task, cells);
  std::string fill = config.fill_value.empty() ? "false" : config.fill_value;
  if (config.missing == MissingValues::kFillMode) {
    fill = Mode(cells, train).value_or(fill);
  }
  const std::string& true_label = encoded.info.true_label;
  for (const std::string& cell : cells) {
    const std::string& text = IsMissing(cell) ? fill : cell;
    const bool value =
        true_label.empty() ? UsualBoolean(text).value_or(false) : text == true_label;
    encoded.values.push_back(value ? 1 : 0);
  }
  return encoded;
}

}  // namespace

EncodedColumn EncodeColumn(const ColumnTask& task,
                           const Cells& cells,
                           const Rows& train) {
  switch (task.type) {
    case FeatureType::kNumber:
      return EncodeNumber(task, cells, train);
    case FeatureType::kCategory:
      return EncodeCategory(task, cells, train);
    case FeatureType::kBinary:
      return EncodeBinary(task, cells, train);
  }
  return {};
}

}  // namespace hyperopt

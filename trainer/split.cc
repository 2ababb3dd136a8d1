#include "trainer/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <utility>

#include "trial/errors.h"
#include "trial/ids.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

using Rows = std::vector<int64_t>;

void Append(Rows& to, const Rows& from, size_t begin, size_t end) {
  to.insert(to.end(), from.begin() + begin, from.begin() + end);
}

void Cut(const Rows& shuffled,
         const std::vector<double>& probabilities,
         SplitRows& split) {
  const double count = static_cast<double>(shuffled.size());
  const auto train_end = static_cast<size_t>(std::llround(count * probabilities[0]));
  const auto validation_end = std::clamp(
      static_cast<size_t>(std::llround(count * (probabilities[0] + probabilities[1]))),
      train_end,
      shuffled.size());
  Append(split.train, shuffled, 0, train_end);
  Append(split.validation, shuffled, train_end, validation_end);
  Append(split.test, shuffled, validation_end, shuffled.size());
}

SplitRows SplitFixed(const SplitConfig& config,
                     const Rows& rows,
                     const std::vector<std::string>& column) {
  SplitRows split;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string& value = column[i];
    if (value.empty()) continue;
    if (value == "0" || value == "0.0" || value == "train" || value == "training") {
      split.train.push_back(rows[i]);
    } else if (value == "1" || value == "1.0" || value == "validation") {
      split.validation.push_back(rows[i]);
    } else if (value == "2" || value == "2.0" || value == "test") {
      split.test.push_back(rows[i]);
    } else {
      throw ConfigError(
          fmt::format("preprocessing.split: column {} holds {}; 0, 1, 2, train, "
                      "validation and test are understood",
                      config.column,
                      value));
    }
  }
  return split;
}

SplitRows SplitStratified(const SplitConfig& config,
                          const Rows& rows,
                          const std::vector<std::string>& column) {
  std::map<std::string, Rows> groups;
  for (size_t i = 0; i < rows.size(); ++i) groups[column[i]].push_back(rows[i]);
  SplitRows split;
  for (auto& [value, group] : groups) {
    ShuffleRows(group, config.random_seed, "split/" + value);
    Cut(group, config.probabilities, split);
  }
  return split;
}

}  // namespace

void ShuffleRows(Rows& rows, uint64_t seed, const std::string& stream) {
  Rng rng(seed, TrialId(), stream);
  for (size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[rng.Below(i)]);
}

SplitRows SplitDataset(const SplitConfig& config,
                       const Rows& rows,
                       const std::vector<std::string>& column) {
  assert(config.type == "random" || column.size() == rows.size());
  SplitRows split;
  if (config.type == "fixed") {
    split = SplitFixed(config, rows, column);
  } else if (config.type == "stratify") {
    split = SplitStratified(config, rows, column);
  } else {
    Rows shuffled = rows;
    ShuffleRows(shuffled, config.random_seed, "split");
    Cut(shuffled, config.probabilities, split);
  }
  for (Rows* part : {&split.train, &split.validation, &split.test}) {
    std::sort(part->begin(), part->end());
  }
  if (split.train.empty()) {
    throw ConfigError("preprocessing.split: no rows are left to train on");
  }
  return split;
}

}  // namespace hyperopt

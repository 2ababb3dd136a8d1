// How good predictions are. Plain arithmetic on double, without LibTorch.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "trainer/dataset.h"
#include "trainer/model_config.h"

namespace hyperopt {

// What a model said of some rows of one output feature.
struct Predictions {
  // Scores a row: 1 for number (the normalised value) and binary (the logit), the
  // number of classes for category (logits).
  size_t width = 1;
  std::vector<float> scores;   // rows x width
  std::vector<float> targets;  // rows; as in Dataset::targets
  std::vector<float> losses;   // rows

  size_t rows() const { return targets.size(); }
};

// The metrics of MetricNames(type). Numbers are measured in the units of the table.
// NaN where a metric is not defined: no rows, one class only (roc_auc), a constant
// target (r2), no positive (recall, precision), or where a score is NaN.
std::map<std::string, double> ComputeMetrics(const OutputFeature& feature,
                                             const ColumnInfo& info,
                                             const Predictions& predictions);

// The area under the ROC curve = P(score of a positive > that of a negative), ties
// count half. NaN where one of the two is absent or a score is NaN.
double RocAuc(std::span<const double> scores, const std::vector<bool>& positive);

}  // namespace hyperopt

#include "trainer/metrics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace hyperopt {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double Ratio(double part, double whole) { return whole == 0 ? kNaN : part / whole; }

bool AnyNaN(std::span<const float> values) {
  return std::any_of(
      values.begin(), values.end(), [](float v) { return std::isnan(v); });
}

std::map<std::string, double> NumberMetrics(const ColumnInfo& info,
                                            const Predictions& predictions) {
  const double rows = static_cast<double>(predictions.rows());
  double sum = 0;
  for (float target : predictions.targets) sum += target * info.scale + info.shift;
  const double mean = Ratio(sum, rows);
  double squared = 0;
  double absolute = 0;
  double variance = 0;
  for (size_t row = 0; row < predictions.rows(); ++row) {
    const double target = predictions.targets[row] * info.scale + info.shift;
    const double error = predictions.scores[row] * info.scale + info.shift - target;
    squared += error * error;
    absolute += std::abs(error);
    variance += (target - mean) * (target - mean);
  }
  return {{"mean_squared_error", Ratio(squared, rows)},
          {"mean_absolute_error", Ratio(absolute, rows)},
          {"root_mean_squared_error", std::sqrt(Ratio(squared, rows))},
          {"r2", variance == 0 ? kNaN : 1 - squared / variance}};
}

// One class against the rest, averaged over the classes that the rows have; of the
// softmax, since logits of different rows do not compare.
double MacroRocAuc(const Predictions& predictions, std::vector<double> probabilities) {
  const size_t rows = predictions.rows();
  double sum = 0;
  int64_t classes = 0;
  std::vector<double> scores(rows);
  std::vector<bool> positive(rows);
  for (size_t c = 0; c < predictions.width; ++c) {
    size_t present = 0;
    for (size_t row = 0; row < rows; ++row) {
      scores[row] = probabilities[row * predictions.width + c];
      positive[row] = static_cast<size_t>(predictions.targets[row]) == c;
      present += positive[row] ? 1 : 0;
    }
    if (present == 0) continue;
    sum += RocAuc(scores, positive);
    ++classes;
  }
  return Ratio(sum, static_cast<double>(classes));
}

std::vector<double> Softmax(const Predictions& predictions) {
  std::vector<double> result;
  result.reserve(predictions.scores.size());
  for (size_t row = 0; row < predictions.rows(); ++row) {
    const float* logits = &predictions.scores[row * predictions.width];
    const float top = *std::max_element(logits, logits + predictions.width);
    double sum = 0;
    for (size_t c = 0; c < predictions.width; ++c) {
      result.push_back(std::exp(static_cast<double>(logits[c]) - top));
      sum += result.back();
    }
    for (size_t c = 0; c < predictions.width; ++c) {
      result[row * predictions.width + c] /= sum;
    }
  }
  return result;
}

std::map<std::string, double> CategoryMetrics(const Predictions& predictions,
                                              int64_t top_k) {
  if (AnyNaN(predictions.scores)) {
    return {{"accuracy", kNaN}, {"hits_at_k", kNaN}, {"roc_auc", kNaN}};
  }
  double right = 0;
  double hits = 0;
  for (size_t row = 0; row < predictions.rows(); ++row) {
    const float* logits = &predictions.scores[row * predictions.width];
    const auto target = static_cast<size_t>(predictions.targets[row]);
    // Classes before the target: those with a higher score, and of equal ones the
    // earlier, as argmax chooses.
    int64_t before = 0;
    for (size_t c = 0; c < predictions.width; ++c) {
      before +=
          logits[c] > logits[target] || (logits[c] == logits[target] && c < target);
    }
    right += before == 0;
    hits += before < top_k;
  }
  const double rows = static_cast<double>(predictions.rows());
  return {{"accuracy", Ratio(right, rows)},
          {"hits_at_k", Ratio(hits, rows)},
          {"roc_auc", MacroRocAuc(predictions, Softmax(predictions))}};
}

std::map<std::string, double> BinaryMetrics(const Predictions& predictions) {
  if (AnyNaN(predictions.scores)) {
    return {{"accuracy", kNaN},
            {"roc_auc", kNaN},
            {"precision", kNaN},
            {"recall", kNaN},
            {"specificity", kNaN}};
  }
  double counts[2][2] = {};  // [target][said]
  std::vector<bool> positive;
  for (size_t row = 0; row < predictions.rows(); ++row) {
    positive.push_back(predictions.targets[row] > 0.5F);
    counts[positive.back() ? 1 : 0][predictions.scores[row] >= 0 ? 1 : 0] += 1;
  }
  const std::vector<double> scores(predictions.scores.begin(),
                                   predictions.scores.end());
  const double right = counts[0][0] + counts[1][1];
  return {{"accuracy", Ratio(right, static_cast<double>(predictions.rows()))},
          {"roc_auc", RocAuc(scores, positive)},
          {"precision", Ratio(counts[1][1], counts[0][1] + counts[1][1])},
          {"recall", Ratio(counts[1][1], counts[1][0] + counts[1][1])},
          {"specificity", Ratio(counts[0][0], counts[0][0] + counts[0][1])}};
}

}  // namespace

double RocAuc(std::span<const double> scores, const std::vector<bool>& positive) {
  assert(scores.size() == positive.size());
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (double score : scores) {
    if (std::isnan(score)) return kNaN;
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return scores[a] < scores[b];
  });
  // Mann-Whitney: (sum of the positives' ranks - n1 (n1 + 1) / 2) / (n1 n0), equal
  // scores sharing the mean of their ranks.
  double rank_sum = 0;
  double positives = 0;
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && scores[order[end]] == scores[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    for (; begin < end; ++begin) {
      if (!positive[order[begin]]) continue;
      rank_sum += rank;
      positives += 1;
    }
  }
  const double negatives = static_cast<double>(scores.size()) - positives;
  return Ratio(rank_sum - positives * (positives + 1) / 2, positives * negatives);
}

std::map<std::string, double> ComputeMetrics(const OutputFeature& feature,
                                             const ColumnInfo& info,
                                             const Predictions& predictions) {
  assert(predictions.scores.size() == predictions.rows() * predictions.width);
  std::map<std::string, double> metrics;
  switch (feature.type) {
    case FeatureType::kNumber:
      metrics = NumberMetrics(info, predictions);
      break;
    case FeatureType::kCategory:
      metrics = CategoryMetrics(predictions, feature.top_k);
      break;
    case FeatureType::kBinary:
      metrics = BinaryMetrics(predictions);
      break;
  }
  const double loss =
      std::accumulate(predictions.losses.begin(), predictions.losses.end(), 0.0);
  metrics["loss"] = Ratio(loss, static_cast<double>(predictions.rows()));
  return metrics;
}

}  // namespace hyperopt

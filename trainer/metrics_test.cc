#include "trainer/metrics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "trainer/reporter.h"

namespace hyperopt {
namespace {

OutputFeature Output(FeatureType type) {
  OutputFeature feature;
  feature.type = type;
  feature.top_k = 2;
  return feature;
}

TEST_CASE("roc_auc: ties count half") {
  using Labels = std::vector<bool>;
  const auto auc = [](std::vector<double> scores, const Labels& labels) {
    return RocAuc(scores, labels);
  };
  CHECK(auc({0.1, 0.4, 0.35, 0.8}, {false, false, true, true}) == 0.75);
  CHECK(auc({1, 2, 3, 4}, {false, false, true, true}) == 1);
  CHECK(auc({4, 3, 2, 1}, {false, false, true, true}) == 0);
  CHECK(auc({1, 1, 1}, {false, true, false}) == 0.5);
  // Pairs: (2 > 1) 1, (2 = 2) 1/2, (1 = 1) 1/2, (1 < 2) 0: 2 of 4.
  CHECK(auc({1, 2, 2, 1}, {false, false, true, true}) == 0.5);
  // Pairs of 3: 3 > 1, 3 > 2; pairs of 2: 2 > 1, 2 = 2: 3.5 of 4.
  CHECK(auc({1, 2, 2, 3}, {false, false, true, true}) == 0.875);
  CHECK(std::isnan(auc({1, 2}, {true, true})));
  CHECK(std::isnan(auc({}, {})));
  CHECK(std::isnan(auc({1, std::nan("")}, {true, false})));
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(auc({-infinity, infinity}, {false, true}) == 1);
}

TEST_CASE("number: metrics are in the table's units") {
  ColumnInfo info;
  info.shift = 10;
  info.scale = 2;
  // Predicted 10, 12, 18 for 8, 12, 16.
  const Predictions predictions{1, {0, 1, 4}, {-1, 1, 3}, {1, 0, 1}};
  const auto metrics = ComputeMetrics(Output(FeatureType::kNumber), info, predictions);
  CHECK(metrics.at("mean_squared_error") == doctest::Approx(8.0 / 3));
  CHECK(metrics.at("mean_absolute_error") == doctest::Approx(4.0 / 3));
  CHECK(metrics.at("root_mean_squared_error") == doctest::Approx(std::sqrt(8.0 / 3)));
  CHECK(metrics.at("r2") == doctest::Approx(1 - 8.0 / 32));
  CHECK(metrics.at("loss") == doctest::Approx(2.0 / 3));
}

TEST_CASE("number: r2 of a constant target is not defined") {
  const Predictions predictions{1, {1, 2}, {3, 3}, {0, 0}};
  const auto metrics = ComputeMetrics(Output(FeatureType::kNumber), {}, predictions);
  CHECK(std::isnan(metrics.at("r2")));
  CHECK(metrics.at("mean_squared_error") == doctest::Approx(2.5));
}

TEST_CASE("category: accuracy, hits_at_k, macro roc_auc") {
  const Predictions predictions{
      3, {5, 1, 0, 0, 2, 1, 1, 1, 0, 3, 2, 1}, {0, 2, 1, 2}, {1, 1, 1, 1}};
  const auto metrics = ComputeMetrics(Output(FeatureType::kCategory), {}, predictions);
  // Row 0 right; row 1 second; row 2 tied with the earlier class 0, so second; row 3
  // third.
  CHECK(metrics.at("accuracy") == 0.25);
  CHECK(metrics.at("hits_at_k") == 0.75);
  // Softmax: row 0 (.976 .018 .007), 1 (.090 .665 .245), 2 (.422 .422 .155),
  // 3 (.665 .245 .090). Class 0: 1. Class 1 (row 2): above rows 0 and 3, below row 1.
  // Class 2 (rows 1, 3) against (0, 2): row 1 above both, row 3 above row 0: 3 of 4.
  CHECK(metrics.at("roc_auc") == doctest::Approx((1 + 2.0 / 3 + 0.75) / 3));
}

TEST_CASE("binary: counts at the threshold of one half") {
  const Predictions predictions{1, {2, -1, 0, -3, 1}, {1, 1, 0, 0, 1}, {0, 0, 0, 0, 5}};
  const auto metrics = ComputeMetrics(Output(FeatureType::kBinary), {}, predictions);
  CHECK(metrics.at("accuracy") == doctest::Approx(0.6));
  CHECK(metrics.at("precision") == doctest::Approx(2.0 / 3));
  CHECK(metrics.at("recall") == doctest::Approx(2.0 / 3));
  CHECK(metrics.at("specificity") == doctest::Approx(0.5));
  CHECK(metrics.at("roc_auc") == doctest::Approx(5.0 / 6));
  CHECK(metrics.at("loss") == doctest::Approx(1));
}

TEST_CASE("every promised metric is there, NaN where scores are NaN or rows absent") {
  const float nan = std::nanf("");
  for (FeatureType type :
       {FeatureType::kNumber, FeatureType::kCategory, FeatureType::kBinary}) {
    CAPTURE(FeatureTypeName(type));
    const size_t width = type == FeatureType::kCategory ? 2 : 1;
    const Predictions broken{width, std::vector<float>(width, nan), {0}, {nan}};
    const Predictions none{width, {}, {}, {}};
    const auto names = MetricNames(FeatureTypeName(type));
    for (const Predictions& predictions : {broken, none}) {
      const auto metrics = ComputeMetrics(Output(type), {}, predictions);
      CHECK(metrics.size() == names.size());
      for (const std::string& name : names) {
        REQUIRE(metrics.count(name) == 1);
        CHECK(std::isnan(metrics.at(name)));
      }
    }
  }
}

TEST_CASE("report lines read back exactly and keep what is not finite") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(FormatReport(3,
                     {{"a", 0.1},
                      {"b", 1.0 / 3},
                      {"c", std::nan("")},
                      {"d", infinity},
                      {"e", -infinity},
                      {"f \"x\"", 2}}) ==
        "{\"step\": 3, \"a\": 0.1, \"b\": 0.3333333333333333, \"c\": NaN, \"d\": "
        "Infinity, \"e\": -Infinity, \"f \\\"x\\\"\": 2}");
}

}  // namespace
}  // namespace hyperopt

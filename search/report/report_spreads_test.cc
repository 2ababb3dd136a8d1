#include "search/report/internal/report_spreads.h"

#include <doctest/doctest.h>

#include <cmath>

namespace hyperopt {
namespace {

using internal::SpreadFields;
using internal::SpreadFieldsFor;
using internal::SpreadOf;
using internal::TrialSpread;

ReportRow Report(int64_t step, const char* values) {
  ReportRow row;
  row.step = step;
  row.values = values;
  return row;
}

SearchConfig ConfigWith(Goal goal, ValueRule rule) {
  SearchConfig config;
  config.goal = goal;
  config.value = rule;
  return config;
}

TEST_SUITE("spreads") {
  TEST_CASE("which fields tell folds, means and a test score") {
    const auto of = [](const char* metric, std::vector<std::string> seen) {
      return SpreadFieldsFor(metric, seen);
    };
    CHECK(!of("loss", {"loss", "epoch", "accuracy"}).any());
    CHECK(of("loss", {"fold", "loss"}).of_fold == "loss");
    CHECK(of("loss", {"fold", "fold_loss", "loss"}).of_fold == "fold_loss");
    CHECK(!of("loss", {"fold", "accuracy"}).any());
    CHECK(of("loss_mean", {"loss_mean", "loss_std"}).deviation == "loss_std");
    CHECK(of("loss", {"loss", "loss_std"}).mean == "loss");
    CHECK(of("mean_score", {"mean_score", "std_score"}).deviation == "std_score");
    const SpreadFields ludwig =
        of("overall.price.rmse_mean",
           {"overall.price.rmse_mean", "overall.price.rmse_std", "test.price.rmse"});
    CHECK(ludwig.deviation == "overall.price.rmse_std");
    CHECK(ludwig.test == "test.price.rmse");
    CHECK(of("validation.combined.loss", {"test.combined.loss"}).test ==
          "test.combined.loss");
    CHECK(of("val_loss", {"test_loss"}).test == "test_loss");
    CHECK(of("loss", {"test_loss"}).test == "test_loss");
    CHECK(of("value", {"testue"}).test == "");  // val-ue is no word of its own
    CHECK(of("test_loss", {"test_loss"}).test == "");
  }

  TEST_CASE("folds are averaged over what each ended with") {
    const std::vector<ReportRow> reports = {Report(1, R"({"fold":1,"loss":9})"),
                                            Report(2, R"({"fold":1,"loss":1})"),
                                            Report(3, R"({"fold":2,"loss":2})"),
                                            Report(4, R"({"fold":3,"loss":0.5})"),
                                            Report(5, R"({"fold":3,"loss":3})"),
                                            Report(6, R"({"fold":4,"loss":"NaN"})"),
                                            Report(7, R"({"other":1})")};
    const SpreadFields fields = SpreadFieldsFor("loss", {"fold", "loss"});
    const TrialSpread last =
        SpreadOf(reports, fields, ConfigWith(Goal::kMinimize, ValueRule::kLast), 7);
    CHECK(last.folds == std::vector<double>{1, 2, 3});
    CHECK(last.mean.value() == doctest::Approx(2));
    CHECK(last.error.value() == doctest::Approx(1 / std::sqrt(3)));
    const TrialSpread best =
        SpreadOf(reports, fields, ConfigWith(Goal::kMinimize, ValueRule::kBest), 4);
    CHECK(best.folds == std::vector<double>{1, 2, 0.5});
    const std::vector<ReportRow> one = {Report(1, R"({"fold":0,"loss":4})")};
    const TrialSpread alone =
        SpreadOf(one, fields, ConfigWith(Goal::kMinimize, ValueRule::kBest), 1);
    CHECK(alone.mean.value() == 4);
    CHECK(!alone.error);
    CHECK(
        !SpreadOf({}, fields, ConfigWith(Goal::kMinimize, ValueRule::kBest), 0).any());
  }

  TEST_CASE(
      "a mean that the trial tells is that of its ranked step; the test is last") {
    const std::vector<ReportRow> reports = {
        Report(1, R"({"loss_mean":3,"loss_std":0.3,"test_loss":4})"),
        Report(2, R"({"loss_mean":1,"loss_std":0.1,"test_loss":5})"),
        Report(3, R"({"loss_mean":2,"loss_std":"NaN","test_loss":6})")};
    const SpreadFields fields =
        SpreadFieldsFor("loss_mean", {"loss_mean", "loss_std", "test_loss"});
    const SearchConfig config = ConfigWith(Goal::kMinimize, ValueRule::kBest);
    const TrialSpread best = SpreadOf(reports, fields, config, 2);
    CHECK(best.mean.value() == 1);
    CHECK(best.error.value() == doctest::Approx(0.1));
    CHECK(best.test.value() == 6);
    const TrialSpread last = SpreadOf(reports, fields, config, 3);
    CHECK(last.mean.value() == 2);
    CHECK(!last.error);
  }
}

}  // namespace
}  // namespace hyperopt

#include "search/report/curves.h"

#include <doctest/doctest.h>

namespace hyperopt {
namespace {

ReportRow Report(int32_t attempt, int64_t step, double value) {
  ReportRow row;
  row.key = {TrialId(0), RunId(0), Attempt(attempt)};
  row.step = step;
  row.objective = Objective::Of(value);
  return row;
}

TEST_SUITE("curves") {
  TEST_CASE("a step has the value of the highest attempt that came to it") {
    const std::vector<ReportRow> reports = {
        Report(2, 2, 0.2), Report(1, 1, 1), Report(1, 2, 2), Report(1, 3, 3)};
    const std::vector<CurvePoint> curve = CurveOf(reports);
    REQUIRE(curve.size() == 3);
    CHECK(curve[0] == CurvePoint{1, Objective::Of(1)});
    CHECK(curve[1] == CurvePoint{2, Objective::Of(0.2)});
    CHECK(curve[2] == CurvePoint{3, Objective::Of(3)});
  }

  TEST_CASE("a report without the metric is no point") {
    ReportRow report = Report(1, 1, 0);
    report.objective = Objective::Missing();
    CHECK(CurveOf(std::vector{report}).empty());
  }

  TEST_CASE("thinning keeps both ends and the order") {
    std::vector<CurvePoint> curve;
    for (int64_t step = 1; step <= 1000; ++step) curve.push_back({step, {}});
    const std::vector<CurvePoint> thin = Thinned(curve, 200);
    REQUIRE(thin.size() == 200);
    CHECK(thin.front().step == 1);
    CHECK(thin.back().step == 1000);
    for (size_t i = 1; i < thin.size(); ++i) CHECK(thin[i - 1].step < thin[i].step);
    CHECK(Thinned(thin, 200) == thin);
  }

  TEST_CASE("many trials share what a report may hold") {
    CHECK(CurvePointsFor(1) == kMostCurvePoints);
    CHECK(CurvePointsFor(0) == kMostCurvePoints);
    CHECK(CurvePointsFor(10'000) == 15);
    CHECK(CurvePointsFor(10'000'000) == 4);
  }
}

}  // namespace
}  // namespace hyperopt

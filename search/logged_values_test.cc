// What reports become for loggers: values that only ever grow at their end.
#include <doctest/doctest.h>

#include <cmath>

#include "search/commands/export_curves.h"

namespace hyperopt {
namespace {

ReportRow Row(int32_t attempt, int64_t step, const std::string& values) {
  ReportRow row;
  row.key = {TrialId(0), RunId(0), Attempt(attempt)};
  row.step = step;
  row.values = values;
  row.wall = static_cast<double>(step);
  return row;
}

std::string Text(const std::vector<LoggedValue>& values) {
  std::string text;
  for (const LoggedValue& each : values) {
    text += each.field + std::to_string(each.step) + "=" +
            std::to_string(static_cast<int>(each.value)) + " ";
  }
  return text;
}

TEST_CASE("what later lines add stands behind what was there, at the same step too") {
  std::vector<ReportRow> rows = {Row(1, 1, R"({"loss":1})"),
                                 Row(1, 2, R"({"loss":2})")};
  CHECK(Text(LoggedValuesOf(rows)) == "loss1=1 loss2=2 ");
  // An `acc` that is said in a line of its own comes before `loss` in the alphabet.
  rows.push_back(Row(1, 2, R"({"acc":3,"step":2})"));
  CHECK(Text(LoggedValuesOf(rows)) == "loss1=1 loss2=2 acc2=3 ");
  rows.push_back(Row(1, 1, R"({"late":4})"));
  CHECK(Text(LoggedValuesOf(rows)) == "loss1=1 loss2=2 acc2=3 late1=4 ");
}

TEST_CASE("a later attempt's value takes the place of an earlier one's") {
  const std::vector<ReportRow> rows = {Row(1, 1, R"({"loss":1})"),
                                       Row(2, 1, R"({"loss":5})"),
                                       Row(2, 2, R"({"loss":6,"acc":"NaN"})"),
                                       Row(1, 2, R"({"loss":7})"),
                                       Row(2, 2, R"({"loss":8,"note":"text"})")};
  const std::vector<LoggedValue> values = LoggedValuesOf(rows);
  REQUIRE(values.size() == 3);
  CHECK(values[0].value == 5);
  CHECK(values[1].field == "acc");
  CHECK(std::isnan(values[1].value));
  CHECK(values[2].value == 8);
}

}  // namespace
}  // namespace hyperopt

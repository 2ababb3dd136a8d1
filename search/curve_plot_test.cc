#include "search/curve_plot.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "search/format.h"

namespace hyperopt {
namespace {

using Points = std::vector<std::pair<int64_t, double>>;
using Lines = std::vector<std::string>;

TEST_SUITE_BEGIN("curve plot");

TEST_CASE("falls from the upper left to the lower right") {
  CHECK(PlotCurve({{1, 4}, {2, 3}, {3, 2}, {4, 1}}, PlotInk::kAscii, {24, 4}) ==
        Lines{"4 |*",
              "  |       *",
              "  |             *",
              "1 |                    *",
              "   1                   4"});
  const Lines braille = PlotCurve({{1, 1}, {9, 2}}, PlotInk::kBraille, {24, 2});
  REQUIRE(braille.size() == 3);
  CHECK(braille[0].starts_with("2 |"));
  CHECK(braille[0].ends_with("\u280a"));       // up to the top
  CHECK(braille[1].starts_with("1 |\u28c0"));  // the lowest ones
}

TEST_CASE("one value, equal ones and none") {
  CHECK(PlotCurve({{7, 0.5}}, PlotInk::kAscii, {24, 3}) ==
        Lines{"0.5 |", "    |*", "0.5 |", "     7"});
  CHECK(PlotCurve({{1, 2}, {2, 2}}, PlotInk::kAscii, {24, 3})[1] ==
        "  |*                   *");
  CHECK(PlotCurve({}, PlotInk::kAscii, {}).empty());
  CHECK(PlotCurve({{1, std::nan("")}}, PlotInk::kBraille, {}).empty());
}

TEST_CASE("what is not finite is counted; a wide range is logarithmic") {
  const Lines lines = PlotCurve(
      {{1, 1e6}, {2, std::nan("")}, {3, 1}, {4, INFINITY}}, PlotInk::kAscii, {40, 3});
  CHECK(lines[lines.size() - 2] == "logarithmic axis");
  CHECK(lines.back() == "not finite, and not drawn: 2 of 4 values");
}

TEST_CASE("never wider than asked, whatever the values") {
  const double most = std::numeric_limits<double>::max();
  const int64_t far = std::numeric_limits<int64_t>::max();
  for (const PlotInk ink : {PlotInk::kAscii, PlotInk::kBraille}) {
    for (const Points& points :
         {Points{{0, -most}, {1, most}},
          Points{{-far, 1}, {far, 2}},
          Points{{0, 5e-324}, {3, most}},
          Points{{1, -1.23456789e-300}, {2, 123456.789}, {100000, 0}}}) {
      for (const size_t width : {24, 50, 78}) {
        for (const std::string& line : PlotCurve(points, ink, {width, 5})) {
          CHECK(DisplayWidth(line) <= std::max<size_t>(width, 45));
        }
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

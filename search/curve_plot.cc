#include "search/curve_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "search/format.h"

namespace hyperopt {
namespace {

// Dots of a character, and Unicode's bit of each: a column of four left, one right.
constexpr int kDotsAcross = 2, kDotsDown = 4;
constexpr int kDot[kDotsDown][kDotsAcross] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
constexpr double kManyTimes = 1000;

class Canvas {
 public:
  Canvas(int columns, int lines, PlotInk ink)
      : columns_(columns), lines_(lines), ink_(ink), cells_(columns * lines, 0) {}

  int across() const {
    return ink_ == PlotInk::kBraille ? columns_ * kDotsAcross : columns_;
  }
  int down() const { return ink_ == PlotInk::kBraille ? lines_ * kDotsDown : lines_; }

  void Point(int x, int y) {
    if (ink_ == PlotInk::kAscii) {
      cells_[y * columns_ + x] = 1;
    } else {
      cells_[y / kDotsDown * columns_ + x / kDotsAcross] |=
          kDot[y % kDotsDown][x % kDotsAcross];
    }
  }
  // All dots on the way but the first.
  void Line(int x0, int y0, int x1, int y1) {
    if (ink_ == PlotInk::kAscii) return Point(x1, y1);
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 1; i <= steps; ++i) {
      Point(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
    }
  }
  std::string Text(int line) const {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const int cell = cells_[line * columns_ + column];
      if (cell == 0) {
        text += ' ';
      } else if (ink_ == PlotInk::kAscii) {
        text += '*';
      } else {
        // U+2800 + cell in UTF-8.
        text += '\xe2';
        text += static_cast<char>(0xa0 | cell >> 6);
        text += static_cast<char>(0x80 | (cell & 0x3f));
      }
    }
    text.resize(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  const int columns_, lines_;
  const PlotInk ink_;
  std::vector<int> cells_;
};

struct Range {
  double low = 0, high = 0;
  bool log = false;
  // 0 at the low end, 1 at the high one.
  double At(double value) const {
    if (low == high) return 0.5;
    if (log) return std::log(value / low) / std::log(high / low);
    return (value / 2 - low / 2) /
           (high / 2 - low / 2);  // their difference may overflow
  }
};

Range RangeOf(const std::vector<std::pair<int64_t, double>>& points) {
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [low, high] = std::minmax_element(points.begin(), points.end(), less);
  Range range{low->second, high->second, false};
  range.log = range.low > 0 && range.high > kManyTimes * range.low;
  return range;
}

}  // namespace

std::vector<std::string> PlotCurve(
    const std::vector<std::pair<int64_t, double>>& points, PlotInk ink, PlotSize size) {
  std::vector<std::pair<int64_t, double>> finite;
  for (const auto& point : points) {
    if (std::isfinite(point.second)) finite.push_back(point);
  }
  std::vector<std::string> lines;
  if (finite.empty()) return lines;
  const Range range = RangeOf(finite);
  const std::string high = NumberText(range.high), low = NumberText(range.low);
  const size_t label = std::max(high.size(), low.size());
  const int columns = static_cast<int>(std::max<size_t>(size.width, 24) - label - 2);
  const int height = static_cast<int>(std::max<size_t>(size.height, 2));
  Canvas canvas(columns, height, ink);
  const int64_t first = finite.front().first, last = finite.back().first;
  const double span =
      std::max(1.0, static_cast<double>(last) - static_cast<double>(first));
  int x0 = -1, y0 = 0;
  for (const auto& [step, value] : finite) {
    const double along =
        (static_cast<double>(step) - static_cast<double>(first)) / span;
    const int x = static_cast<int>(std::lround(along * (canvas.across() - 1)));
    const int y =
        static_cast<int>(std::lround((1 - range.At(value)) * (canvas.down() - 1)));
    x0 < 0 ? canvas.Point(x, y) : canvas.Line(x0, y0, x, y);
    x0 = x;
    y0 = y;
  }
  for (int line = 0; line < height; ++line) {
    const std::string mark = line == 0 ? high : line == height - 1 ? low : "";
    lines.push_back(fmt::format("{:>{}} |{}", mark, label, canvas.Text(line)));
  }
  const std::string from = fmt::format("{}", first), upto = fmt::format("{}", last);
  const size_t gap =
      columns > static_cast<int>(from.size()) ? columns - from.size() : 1;
  lines.push_back(first == last
                      ? fmt::format("{:{}}{}", "", label + 2, from)
                      : fmt::format("{:{}}{}{:>{}}", "", label + 2, from, upto, gap));
  if (range.log) lines.push_back("logarithmic axis");
  if (const size_t left_out = points.size() - finite.size(); left_out > 0) {
    lines.push_back(fmt::format(
        "not finite, and not drawn: {} of {} values", left_out, points.size()));
  }
  return lines;
}

}  // namespace hyperopt

// Drawing in SVG: shapes appended to a text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hyperopt::internal {

using Point = std::pair<double, double>;  // x to the right, y downwards, in pixels

struct Stroke {
  std::string colour = "#1d2430";
  double width = 1;
  double opacity = 1;
  std::string dash = {};  // "3 3"
};

enum class Anchor { kStart, kMiddle, kEnd };

struct Words {
  double size = 11;
  Anchor anchor = Anchor::kStart;
  std::string colour = "#1d2430";
  bool bold = false;
  double turned = 0;  // degrees, clockwise
};

class Svg {
 public:
  // With a white ground; `title` is what a screen reader says of it.
  Svg(double width, double height, std::string_view title);

  void Line(Point from, Point to, const Stroke& stroke);
  // Connected; a point that is not finite parts it.
  void Path(const std::vector<Point>& points, const Stroke& stroke);
  void Rect(Point corner, double width, double height, const std::string& colour);
  void Circle(Point middle, double radius, const std::string& colour, double opacity);
  void Text(Point at, std::string_view text, const Words& words);

  double width() const { return width_; }
  double height() const { return height_; }
  // The whole document.
  std::string Finish() &&;

 private:
  double width_, height_;
  std::string text_;
};

// Of the scale cividis, which people with any colour vision read alike: 0 dark to 1
// pale.
std::string Cividis(double t);

// Enough digits for a tick.
std::string TickText(double value);
// At most `length` characters, "…" at the end of a longer text.
std::string Cut(std::string_view text, size_t length);

}  // namespace hyperopt::internal

#include "search/report/picture/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "search/format.h"

namespace hyperopt::internal {
namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(std::string(text))) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string StrokeText(const Stroke& stroke) {
  std::string text =
      fmt::format("stroke=\"{}\" stroke-width=\"{:.4g}\"", stroke.colour, stroke.width);
  if (stroke.opacity < 1)
    text += fmt::format(" stroke-opacity=\"{:.3g}\"", stroke.opacity);
  if (!stroke.dash.empty())
    text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dash);
  return text;
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title)
    : width_(width), height_(height) {
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
      "viewBox=\"0 0 {0:g} {1:g}\" font-family=\"DejaVu Sans, Helvetica, Arial, "
      "sans-serif\" role=\"img\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width,
      height,
      Escaped(title));
}

void Svg::Line(Point from, Point to, const Stroke& stroke) {
  text_ += fmt::format(
      "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" {}/>\n",
      from.first,
      from.second,
      to.first,
      to.second,
      StrokeText(stroke));
}

void Svg::Path(const std::vector<Point>& points, const Stroke& stroke) {
  text_ += "<path fill=\"none\" stroke-linejoin=\"round\" d=\"";
  bool open = false;
  for (const Point& point : points) {
    if (!std::isfinite(point.first) || !std::isfinite(point.second)) {
      open = false;
      continue;
    }
    fmt::format_to(std::back_inserter(text_),
                   "{}{:.1f} {:.1f}",
                   open ? 'L' : 'M',
                   point.first,
                   point.second);
    open = true;
  }
  text_ += fmt::format("\" {}/>\n", StrokeText(stroke));
}

void Svg::Rect(Point corner, double width, double height, const std::string& colour) {
  text_ += fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
      "fill=\"{}\"/>\n",
      corner.first,
      corner.second,
      width,
      height,
      colour);
}

void Svg::Circle(Point middle,
                 double radius,
                 const std::string& colour,
                 double opacity) {
  text_ += fmt::format(
      "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:g}\" fill=\"{}\" "
      "fill-opacity=\"{:.3g}\"/>\n",
      middle.first,
      middle.second,
      radius,
      colour,
      opacity);
}

void Svg::Text(Point at, std::string_view text, const Words& words) {
  const char* anchors[] = {"start", "middle", "end"};
  std::string turn;
  if (words.turned != 0) {
    turn = fmt::format(
        " transform=\"rotate({:g} {:.2f} {:.2f})\"", words.turned, at.first, at.second);
  }
  text_ += fmt::format(
      "<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{:g}\" text-anchor=\"{}\" "
      "fill=\"{}\"{}{}>{}</text>\n",
      at.first,
      at.second,
      words.size,
      anchors[static_cast<int>(words.anchor)],
      words.colour,
      words.bold ? " font-weight=\"bold\"" : "",
      turn,
      Escaped(text));
}

std::string Svg::Finish() && { return std::move(text_) + "</svg>\n"; }

std::string Cividis(double t) {
  t = std::clamp(t, 0.0, 1.0);
  // A polynomial fit of the scale, by powers of t.
  const auto channel = [t](std::initializer_list<double> factors) {
    double sum = 0, power = 1;
    for (const double factor : factors) {
      sum += factor * power;
      power *= t;
    }
    return static_cast<int>(std::clamp(std::round(sum), 0.0, 255.0));
  };
  return fmt::format("#{:02x}{:02x}{:02x}",
                     channel({-4.54, -35.34, 2381.73, -6402.7, 7024.72, -2710.57}),
                     channel({32.49, 170.73, 52.82, -131.46, 176.58, -67.37}),
                     channel({81.24, 442.36, -2482.43, 6167.24, -6614.94, 2475.67}));
}

std::string TickText(double value) {
  const double size = std::abs(value);
  if (value == 0 || (size >= 1e-3 && size < 1e5)) return fmt::format("{:.4g}", value);
  std::string text = fmt::format("{:.3e}", value);
  const size_t e = text.find('e');
  std::string mantissa = fmt::format("{:g}", std::stod(text.substr(0, e)));
  return mantissa + 'e' + std::to_string(std::stoi(text.substr(e + 1)));
}

std::string Cut(std::string_view text, size_t length) {
  const std::string shown = Printable(std::string(text));
  size_t characters = 0;
  for (size_t i = 0; i < shown.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(shown[i]) & 0xc0) != 0x80;
    characters += begins;
    if (begins && characters > length) return shown.substr(0, i) + "…";
  }
  return shown;
}

}  // namespace hyperopt::internal

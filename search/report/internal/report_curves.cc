#include <fmt/format.h>

#include <cmath>
#include <map>

#include "search/report/internal/json_text.h"
#include "search/report/internal/report_parts.h"

namespace hyperopt::internal {
namespace {

// Steps 1, 2, ... k as the number k.
void AppendSteps(const std::vector<CurvePoint>& curve, std::string* out) {
  bool plain = true;
  for (size_t i = 0; i < curve.size(); ++i) {
    plain = plain && curve[i].step == static_cast<int64_t>(i) + 1;
  }
  if (plain) {
    AppendInteger(std::ssize(curve), out);
    return;
  }
  *out += '[';
  for (size_t i = 0; i < curve.size(); ++i) {
    if (i > 0) *out += ',';
    AppendInteger(curve[i].step, out);
  }
  *out += ']';
}

void AppendValues(const std::vector<CurvePoint>& curve, std::string* out) {
  *out += '[';
  for (size_t i = 0; i < curve.size(); ++i) {
    if (i > 0) *out += ',';
    AppendNumber(curve[i].value.AsDouble(), 6, out);
  }
  *out += ']';
}

}  // namespace

void AppendCurves(const ReportSource& source, std::string* out) {
  std::vector<size_t> drawn;
  int64_t first = 0, last = 1;
  size_t lines = 0;
  for (size_t i = 0; i < source.curves.size(); ++i) {
    const auto& curve = source.curves[i];
    if (curve.empty()) continue;
    first = drawn.empty() ? curve.front().step : std::min(first, curve.front().step);
    last = std::max(last, curve.back().step);
    drawn.push_back(i);
    lines += source.trials()[i].reports > 1;
  }
  std::string text = "{";
  AppendColumn(
      "trial",
      drawn,
      [](size_t i, std::string* to) { AppendInteger(static_cast<int64_t>(i), to); },
      &text);
  AppendColumn(
      "step",
      drawn,
      [&](size_t i, std::string* to) { AppendSteps(source.curves[i], to); },
      &text);
  AppendColumn(
      "value",
      drawn,
      [&](size_t i, std::string* to) { AppendValues(source.curves[i], to); },
      &text);
  const bool thinned = source.longest > static_cast<int64_t>(CurvePointsFor(lines));
  AppendName("curves", out);
  *out +=
      text + fmt::format(",\"steps\":[{},{}],\"thinned\":{}}}", first, last, thinned);
}

}  // namespace hyperopt::internal

#include "search/report/picture/frame.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hyperopt::internal {
namespace {

constexpr double kLeft = 70, kRight = 20, kTop = 34, kBottom = 48;
constexpr double kTickEvery = 60;  // pixels

}  // namespace

double PlotSource::RankShare(size_t place) const {
  return by_rank.size() < 2
             ? 0
             : static_cast<double>(place) / static_cast<double>(by_rank.size() - 1);
}

PlotSource ReadPlotSource(const RecordedSweep& sweep, WallTime now) {
  PlotSource plot;
  plot.source = ReadReportSource(sweep, now);
  plot.minimize = sweep.record.sweep.goal == Goal::kMinimize;
  for (size_t i = 0; i < plot.source.values.size(); ++i) {
    const Objective& value = plot.source.values[i];
    plot.values.push_back(value.finite() ? value.value : std::nan(""));
    if (value.finite()) plot.by_rank.push_back(i);
  }
  std::stable_sort(plot.by_rank.begin(), plot.by_rank.end(), [&](size_t a, size_t b) {
    return plot.minimize ? plot.values[a] < plot.values[b]
                         : plot.values[a] > plot.values[b];
  });
  return plot;
}

std::vector<size_t> Sampled(const std::vector<size_t>& ranking,
                            size_t most,
                            size_t head) {
  if (ranking.size() <= most) return ranking;
  std::vector<size_t> chosen(ranking.begin(),
                             ranking.begin() + static_cast<std::ptrdiff_t>(head));
  const size_t rest = ranking.size() - head, wanted = most - head;
  for (size_t k = 0; k < wanted; ++k)
    chosen.push_back(ranking[head + k * rest / wanted]);
  return chosen;
}

Axis AxisFor(const std::vector<double>& values) {
  constexpr double kMore = 0.04;
  const auto [low, high] = ExtentOf(values);
  if (low == high) return Axis(low, high, false);
  if (WantsLog(values)) {
    const double more = std::pow(high / low, kMore);
    return Axis(low / more, high * more, true);
  }
  const double more = (high - low) * kMore;
  return Axis(low - more, high + more, false);
}

void DrawFrame(Axis* x,
               Axis* y,
               const std::string& x_label,
               const std::string& y_label,
               Svg* svg) {
  const double right = svg->width() - kRight, bottom = svg->height() - kBottom;
  x->Stretch(kLeft, right);
  y->Stretch(bottom, kTop);
  for (const Tick& tick : y->Ticks(static_cast<int>((bottom - kTop) / kTickEvery))) {
    const double at = (*y)(tick.value);
    svg->Line({kLeft, at}, {right, at}, {.colour = kGrid});
    svg->Text(
        {kLeft - 7, at + 4}, tick.text, {.anchor = Anchor::kEnd, .colour = kFaint});
  }
  for (const Tick& tick : x->Ticks(static_cast<int>((right - kLeft) / 90))) {
    const double at = (*x)(tick.value);
    svg->Line({at, bottom}, {at, bottom + 5}, {.colour = kFaint});
    svg->Text(
        {at, bottom + 18}, tick.text, {.anchor = Anchor::kMiddle, .colour = kFaint});
  }
  svg->Line({kLeft, bottom}, {right, bottom}, {.colour = kFaint});
  svg->Text({(kLeft + right) / 2, bottom + 37},
            x_label,
            {.size = 12, .anchor = Anchor::kMiddle});
  svg->Text({kLeft - 7, kTop - 14}, Cut(y_label, 60), {.size = 12, .bold = true});
}

std::string EmptyPicture(const std::string& why) {
  Svg svg(480, 80, why);
  svg.Text({240, 44}, why, {.size = 13, .anchor = Anchor::kMiddle, .colour = kFaint});
  return std::move(svg).Finish();
}

}  // namespace hyperopt::internal

// History, curves and importance.
#include <fmt/format.h>

#include <cmath>

#include "search/report/importance.h"
#include "search/report/picture.h"
#include "search/report/picture/frame.h"
#include "search/scheduler.h"

namespace hyperopt {

namespace internal {
namespace {

constexpr double kWidth = 720, kHeight = 420;
constexpr size_t kMostPoints = 5000;
constexpr size_t kMostCurves = 500;

const char* ColourOf(TrialState state) {
  switch (state) {
    case TrialState::kCompleted:
      return "#0072b2";
    case TrialState::kStopped:
      return "#e69f00";
    default:
      return "#009e73";
  }
}

struct Legend {
  std::string colour, text;
};

void DrawLegend(const std::vector<Legend>& entries, Svg* svg) {
  double x = svg->width() - 20;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    svg->Text({x, 20}, entry->text, {.anchor = Anchor::kEnd, .colour = kFaint});
    x -= 6.4 * static_cast<double>(entry->text.size()) + 8;
    svg->Circle({x, 16}, 4, entry->colour, 1);
    x -= 16;
  }
}

}  // namespace

std::string DrawHistory(const PlotSource& plot) {
  if (plot.by_rank.empty()) return EmptyPicture("No trial has a finite value.");
  Axis x(0, static_cast<double>(plot.values.size()), false);
  Axis y = AxisFor(plot.values);
  Svg svg(kWidth, kHeight, "Best so far after so many trials");
  DrawFrame(&x, &y, "trials", plot.metric(), &svg);
  const std::vector<size_t> drawn = Sampled(plot.by_rank, kMostPoints, kMostPoints / 2);
  const double opacity = drawn.size() > 500 ? 0.4 : 0.75;
  for (const size_t trial : drawn) {
    svg.Circle({x(static_cast<double>(trial) + 1), y(plot.values[trial])},
               drawn.size() > 1000 ? 1.5 : 2.5,
               ColourOf(plot.source.trials()[trial].state),
               opacity);
  }
  std::vector<Point> line;
  double best = std::nan("");
  for (size_t i = 0; i < plot.values.size(); ++i) {
    const double value = plot.values[i];
    if (std::isnan(value)) continue;
    const bool better =
        std::isnan(best) || (plot.minimize ? value < best : value > best);
    if (!better) continue;
    const double at = x(static_cast<double>(i) + 1);
    if (!line.empty()) line.emplace_back(at, y(best));
    line.emplace_back(at, y(value));
    best = value;
  }
  line.emplace_back(x(static_cast<double>(plot.values.size())), y(best));
  svg.Path(line, {.width = 2});
  DrawLegend({{"#1d2430", "best so far"},
              {ColourOf(TrialState::kCompleted), "completed"},
              {ColourOf(TrialState::kStopped), "stopped"},
              {ColourOf(TrialState::kRunning), "not over"}},
             &svg);
  return std::move(svg).Finish();
}

std::string DrawCurves(const PlotSource& plot) {
  std::vector<size_t> with_curve, place_of(plot.values.size(), 0);
  std::vector<double> steps, values;
  for (size_t place = 0; place < plot.by_rank.size(); ++place) {
    const size_t trial = plot.by_rank[place];
    place_of[trial] = place;
    if (plot.source.curves[trial].empty()) continue;
    with_curve.push_back(trial);
    for (const CurvePoint& point : plot.source.curves[trial]) {
      steps.push_back(static_cast<double>(point.step));
      values.push_back(point.value.AsDouble());
    }
  }
  if (with_curve.empty()) return EmptyPicture("No trial has reported more than once.");
  const auto [first, last] = ExtentOf(steps);
  Axis x(first, last, false);
  Axis y = AxisFor(values);
  Svg svg(kWidth, kHeight, "Learning curves");
  DrawFrame(&x, &y, "step", plot.metric(), &svg);
  const SchedulerOptions& scheduler = plot.sweep().config.scheduler;
  if (scheduler.kind == SchedulerKind::kAsha) {
    for (const int64_t level : RungLevels(scheduler)) {
      const auto at = static_cast<double>(level);
      if (at < first || at > last) continue;
      svg.Line({x(at), 34}, {x(at), kHeight - 48}, {.colour = kFaint, .dash = "3 3"});
    }
  }
  const std::vector<size_t> drawn = Sampled(with_curve, kMostCurves, kMostCurves / 2);
  for (auto at = drawn.rbegin(); at != drawn.rend(); ++at) {
    std::vector<Point> line;
    for (const CurvePoint& point : plot.source.curves[*at]) {
      line.emplace_back(x(static_cast<double>(point.step)), y(point.value.AsDouble()));
    }
    const bool best = place_of[*at] == 0;
    svg.Path(line,
             {.colour = Cividis(0.86 * plot.RankShare(place_of[*at])),
              .width = best ? 2.5 : 1,
              .opacity = best ? 1 : 0.6});
  }
  svg.Text(
      {kWidth - 20, 20},
      fmt::format("{} of {} curves, dark is best", drawn.size(), with_curve.size()),
      {.anchor = Anchor::kEnd, .colour = kFaint});
  return std::move(svg).Finish();
}

std::string DrawImportance(const PlotSource& plot) {
  const SearchSpace& space = plot.sweep().config.space;
  const Importance importance = ImportanceOf(
      space, plot.sweep().record.sweep.goal, plot.source.params, plot.source.values);
  if (importance.shares.empty()) return EmptyPicture(importance.why);
  std::vector<size_t> order(space.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return importance.shares[a] > importance.shares[b];
  });
  constexpr double kRow = 24, kNames = 210, kNumbers = 60;
  Svg svg(kWidth,
          64 + kRow * static_cast<double>(order.size()),
          "Importance of each parameter (PED-ANOVA)");
  svg.Text({20, 24},
           fmt::format("What tells the best {} from all {} trials (PED-ANOVA)",
                       importance.top,
                       importance.used),
           {.size = 12, .bold = true});
  const double most = std::max(1e-12, importance.shares[order[0]]);
  const double room = kWidth - kNames - kNumbers - 30;
  double y = 40;
  for (const size_t p : order) {
    const double share = importance.shares[p];
    svg.Text({kNames - 8, y + 14},
             Cut(space.parameters()[p].name, 30),
             {.anchor = Anchor::kEnd});
    svg.Rect({kNames, y + 3}, std::max(0.5, room * share / most), 15, "#0072b2");
    svg.Text({kNames + room * share / most + 8, y + 15},
             fmt::format("{:.0f} %", share * 100),
             {.colour = kFaint});
    y += kRow;
  }
  return std::move(svg).Finish();
}

}  // namespace internal

std::string_view ToString(Picture picture) {
  switch (picture) {
    case Picture::kParallel:
      return "parallel";
    case Picture::kHistory:
      return "history";
    case Picture::kCurves:
      return "curves";
    case Picture::kImportance:
      return "importance";
    case Picture::kPareto:
      return "pareto";
  }
  return "";
}

std::optional<Picture> PictureFromString(std::string_view text) {
  for (const Picture picture : kAllPictures) {
    if (ToString(picture) == text) return picture;
  }
  return std::nullopt;
}

std::string DrawPicture(const RecordedSweep& sweep, Picture picture, WallTime now) {
  const internal::PlotSource plot = internal::ReadPlotSource(sweep, now);
  switch (picture) {
    case Picture::kParallel:
      return internal::DrawParallel(plot);
    case Picture::kHistory:
      return internal::DrawHistory(plot);
    case Picture::kCurves:
      return internal::DrawCurves(plot);
    case Picture::kImportance:
      return internal::DrawImportance(plot);
    case Picture::kPareto:
      return internal::DrawPareto(plot);
  }
  return "";
}

}  // namespace hyperopt

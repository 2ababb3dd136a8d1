// The first two of several objectives against each other, with their front.
#include "trial/pareto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "search/report/picture/frame.h"

namespace hyperopt::internal {
namespace {

constexpr double kWidth = 720, kHeight = 420;
constexpr size_t kMostPoints = 5000;
constexpr char kFront[] = "#c2410c";

struct Seen {
  std::vector<double> x, y;
  std::vector<size_t> front;  // places in x and y, by x
};

// Trials with a finite value of both that did not fail.
Seen SeenOf(const PlotSource& plot, double x_sign, double y_sign) {
  Seen seen;
  std::vector<hyperopt::Point> points;
  for (size_t i = 0; i < plot.source.trials().size(); ++i) {
    const TrialRow& row = plot.source.trials()[i];
    const Objective& other = plot.source.others[i][0];
    const bool failed = row.state == TrialState::kFailed;
    if (failed || !row.last.finite() || !other.finite()) continue;
    seen.x.push_back(row.last.value);
    seen.y.push_back(other.value);
    points.push_back({x_sign * row.last.value, y_sign * other.value});
  }
  seen.front = ParetoFrontOf(points);
  std::ranges::sort(seen.front, {}, [&](size_t i) { return points[i]; });
  return seen;
}

std::string Label(const std::string& metric, Goal goal) {
  return fmt::format("{} ({} is better)",
                     Cut(metric, 50),
                     goal == Goal::kMinimize ? "lower" : "higher");
}

}  // namespace

std::string DrawPareto(const PlotSource& plot) {
  const SearchConfig& config = plot.sweep().config;
  if (config.objectives.empty()) return EmptyPicture("There is one objective only.");
  const Goal x_goal = plot.sweep().record.sweep.goal;
  const Goal y_goal = config.objectives[0].goal;
  const auto sign = [](Goal goal) { return goal == Goal::kMinimize ? 1.0 : -1.0; };
  const Seen seen = SeenOf(plot, sign(x_goal), sign(y_goal));
  if (seen.x.empty()) return EmptyPicture("No trial has both objectives.");
  Axis x = AxisFor(seen.x), y = AxisFor(seen.y);
  Svg svg(kWidth, kHeight, "Two objectives and their front");
  DrawFrame(&x,
            &y,
            Label(plot.metric(), x_goal),
            Label(config.objectives[0].metric, y_goal),
            &svg);
  const size_t step = std::max<size_t>(1, seen.x.size() / kMostPoints);
  for (size_t i = 0; i < seen.x.size(); i += step) {
    svg.Circle({x(seen.x[i]), y(seen.y[i])},
               seen.x.size() > 1000 ? 1.5 : 3,
               "#0072b2",
               seen.x.size() > 500 ? 0.3 : 0.5);
  }
  std::vector<Point> line;
  for (const size_t i : seen.front) {
    const Point at{x(seen.x[i]), y(seen.y[i])};
    if (!line.empty()) line.emplace_back(at.first, line.back().second);
    line.push_back(at);
  }
  svg.Path(line, {.colour = kFront, .width = 2});
  for (const size_t i : seen.front) {
    svg.Circle({x(seen.x[i]), y(seen.y[i])}, 4.5, kFront, 1);
  }
  svg.Text({kWidth - 20, 20},
           fmt::format("{} of {} trials on the front of these two",
                       seen.front.size(),
                       seen.x.size()),
           {.anchor = Anchor::kEnd, .colour = kFaint});
  return std::move(svg).Finish();
}

}  // namespace hyperopt::internal

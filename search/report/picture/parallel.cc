// Parallel coordinates: an axis a parameter in its own scale, then the metric; a line a
// trial. What has no place on an axis lies in a lane below, so that no trial vanishes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/report/picture/frame.h"

namespace hyperopt::internal {
namespace {

constexpr double kTop = 78, kBottom = 430, kLane = 22;
// More hide each other.
constexpr size_t kMostLines = 600;
constexpr size_t kMostStrong = 40;
constexpr size_t kMostLabels = 24;

enum Lane { kOnAxis, kInactive, kNotFinite, kFailed, kNoValue, kLanes };
constexpr const char* kLaneNames[] = {
    "", "inactive", "not finite", "failed", "no value"};

struct Column {
  std::string title;
  std::vector<double> y;   // by trial; NaN in a lane
  std::vector<Lane> lane;  // by trial
  std::vector<std::pair<double, std::string>> ticks;
};

void Place(Axis axis, const std::vector<double>& values, Column* column) {
  axis.Stretch(kBottom, kTop);
  for (const double value : values) {
    column->y.push_back(std::isnan(value) ? value
                                          : std::clamp(axis(value), kTop, kBottom));
  }
  for (const Tick& tick : axis.Ticks(7)) {
    column->ticks.emplace_back(axis(tick.value), tick.text);
  }
}

const std::vector<ParamValue>* ListOf(const Domain& domain) {
  if (const auto* list = std::get_if<CategoricalDomain>(&domain)) return &list->values;
  if (const auto* grid = std::get_if<GridDomain>(&domain)) return &grid->values;
  return nullptr;
}

double NumberOf(const ParamValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&value);
  return real == nullptr ? std::nan("") : *real;
}

// Lines of a category are spread over its band by their rank.
void PlaceList(std::vector<ParamValue> list,
               const std::string& name,
               const PlotSource& plot,
               const std::vector<double>& rank,
               Column* column) {
  for (const Params& params : plot.source.params) {
    const auto found = params.find(name);
    if (found == params.end()) continue;
    if (std::find(list.begin(), list.end(), found->second) == list.end()) {
      list.push_back(found->second);
    }
  }
  const double band = (kBottom - kTop) / static_cast<double>(list.size());
  for (size_t i = 0; i < plot.source.params.size(); ++i) {
    const auto found = plot.source.params[i].find(name);
    if (found == plot.source.params[i].end()) {
      column->y.push_back(std::nan(""));
      continue;
    }
    const auto at = static_cast<double>(
        std::find(list.begin(), list.end(), found->second) - list.begin());
    column->y.push_back(kBottom - band * (at + 0.8 - 0.6 * rank[i]));
  }
  const size_t every = (list.size() + kMostLabels - 1) / kMostLabels;
  for (size_t k = 0; k < list.size(); k += every) {
    column->ticks.emplace_back(kBottom - band * (static_cast<double>(k) + 0.5),
                               ToWord(list[k]));
  }
}

Column ParameterColumn(const Parameter& parameter,
                       const PlotSource& plot,
                       const std::vector<double>& rank) {
  Column column;
  column.title = parameter.name;
  std::vector<double> values;
  for (const Params& params : plot.source.params) {
    const auto found = params.find(parameter.name);
    values.push_back(found == params.end() ? std::nan("") : NumberOf(found->second));
  }
  if (const auto* list = ListOf(parameter.domain)) {
    PlaceList(*list, parameter.name, plot, rank, &column);
  } else if (const auto* real = std::get_if<FloatDomain>(&parameter.domain)) {
    Place(Axis(real->lower, real->upper, real->log), values, &column);
  } else if (const auto* whole = std::get_if<IntDomain>(&parameter.domain)) {
    Place(Axis(static_cast<double>(whole->lower),
               static_cast<double>(whole->upper),
               whole->log),
          values,
          &column);
  } else {
    const auto [low, high] = ExtentOf(values);
    Place(Axis(low, high, false), values, &column);
  }
  for (const double y : column.y) {
    column.lane.push_back(std::isnan(y) ? kInactive : kOnAxis);
  }
  return column;
}

Column MetricColumn(const PlotSource& plot) {
  Column column;
  column.title = plot.metric();
  const auto [low, high] = ExtentOf(plot.values);
  Place(Axis(low, high, WantsLog(plot.values)), plot.values, &column);
  if (plot.by_rank.empty()) column.ticks.clear();
  for (size_t i = 0; i < plot.values.size(); ++i) {
    const Objective& value = plot.source.values[i];
    const bool failed = plot.source.trials()[i].state == TrialState::kFailed;
    column.lane.push_back(value.finite()    ? kOnAxis
                          : failed          ? kFailed
                          : value.missing() ? kNoValue
                                            : kNotFinite);
  }
  return column;
}

// By trial: 0 for the best, 1 for the worst and those without a value.
std::vector<double> RankOf(const PlotSource& plot) {
  std::vector<double> rank(plot.values.size(), 1);
  for (size_t place = 0; place < plot.by_rank.size(); ++place) {
    rank[plot.by_rank[place]] = plot.RankShare(place);
  }
  return rank;
}

// Where each lane that is needed lies.
std::vector<double> LanesOf(const std::vector<Column>& columns) {
  std::vector<double> y(kLanes, std::nan(""));
  for (const Column& column : columns) {
    for (const Lane lane : column.lane) y[lane] = 0;
  }
  double at = kBottom + kLane;
  for (int lane = kInactive; lane < kLanes; ++lane) {
    if (std::isnan(y[lane])) continue;
    y[lane] = at;
    at += kLane;
  }
  return y;
}

class Drawing {
 public:
  Drawing(const PlotSource& plot, std::vector<Column> columns)
      : plot_(plot), columns_(std::move(columns)), lanes_(LanesOf(columns_)) {
    gap_ = std::clamp(900.0 / static_cast<double>(columns_.size()), 78.0, 190.0);
  }

  std::string Draw(const std::vector<double>& rank) {
    double bottom = kBottom;
    for (const double y : lanes_) bottom = std::max(bottom, std::isnan(y) ? 0 : y);
    Svg svg(kLeft + 70 + gap_ * static_cast<double>(columns_.size() - 1),
            bottom + 40,
            "Parallel coordinates: an axis for each parameter, a line for each trial");
    DrawLanes(&svg);
    const size_t drawn = DrawTrials(rank, &svg);
    for (size_t c = 0; c < columns_.size(); ++c) DrawAxis(c, &svg);
    svg.Text({svg.width() - 12, bottom + 30},
             fmt::format("{} of {} trials; dark is best", drawn, plot_.values.size()),
             {.anchor = Anchor::kEnd, .colour = kFaint});
    return std::move(svg).Finish();
  }

 private:
  static constexpr double kLeft = 70;

  double X(size_t column) const { return kLeft + gap_ * static_cast<double>(column); }

  void DrawLanes(Svg* svg) const {
    for (int lane = kInactive; lane < kLanes; ++lane) {
      const double y = lanes_[lane];
      if (std::isnan(y)) continue;
      svg->Line({8, y}, {X(columns_.size() - 1), y}, {.colour = kGrid, .dash = "1 4"});
      svg->Text({4, y - 3}, kLaneNames[lane], {.size = 10, .colour = kFaint});
    }
  }

  // The best on top.
  size_t DrawTrials(const std::vector<double>& rank, Svg* svg) const {
    std::vector<size_t> ranking = plot_.by_rank;
    for (size_t i = 0; i < plot_.values.size(); ++i) {
      if (std::isnan(plot_.values[i])) ranking.push_back(i);
    }
    const std::vector<size_t> drawn = Sampled(ranking, kMostLines, kMostStrong);
    const size_t strong = std::min(kMostStrong, plot_.by_rank.size() / 10);
    const double faint =
        std::clamp(150.0 / std::max<double>(1, drawn.size()), 0.25, 0.9);
    for (size_t k = drawn.size(); k-- > 0;) {
      const size_t trial = drawn[k];
      std::vector<Point> line;
      for (size_t c = 0; c < columns_.size(); ++c) {
        const Lane lane = columns_[c].lane[trial];
        line.emplace_back(X(c), lane == kOnAxis ? columns_[c].y[trial] : lanes_[lane]);
      }
      const bool valued = !std::isnan(plot_.values[trial]);
      const bool best = k == 0 && valued;
      svg->Path(line,
                {.colour = valued ? Cividis(0.86 * rank[trial]) : "#b0447c",
                 .width = best ? 2.5 : 1,
                 .opacity = best         ? 1
                            : k < strong ? 0.9
                                         : faint});
    }
    return drawn.size();
  }

  void DrawAxis(size_t c, Svg* svg) const {
    const Column& column = columns_[c];
    const double x = X(c);
    const bool last = c + 1 == columns_.size();
    svg->Line({x, kTop}, {x, kBottom}, {.width = 1.2});
    for (const auto& [y, text] : column.ticks) {
      svg->Line({x - 4, y}, {x, y}, {.width = 1});
      // White below it, for what lies there.
      const Point at{last ? x + 6 : x + 5, y + 3.5};
      const std::string shown = Cut(text, static_cast<size_t>(gap_ / 8));
      svg->Rect({at.first - 1, y - 6},
                6.1 * static_cast<double>(shown.size()) + 2,
                12,
                "#ffffff\" fill-opacity=\"0.7");
      svg->Text(at, shown, {.size = 10});
    }
    svg->Text({x - 6, kTop - 14},
              Cut(column.title, 24),
              {.size = 12, .bold = true, .turned = -22});
  }

  const PlotSource& plot_;
  const std::vector<Column> columns_;
  const std::vector<double> lanes_;
  double gap_ = 0;
};

}  // namespace

std::string DrawParallel(const PlotSource& plot) {
  if (plot.values.empty()) return EmptyPicture("There is no trial yet.");
  const std::vector<double> rank = RankOf(plot);
  std::vector<Column> columns;
  for (const Parameter& parameter : plot.sweep().config.space.parameters()) {
    columns.push_back(ParameterColumn(parameter, plot, rank));
  }
  columns.push_back(MetricColumn(plot));
  return Drawing(plot, std::move(columns)).Draw(rank);
}

}  // namespace hyperopt::internal

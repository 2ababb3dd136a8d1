// What the pictures share: the sweep as they draw it, and a frame with axes.
#pragma once

#include <string>
#include <vector>

#include "search/report/internal/report_source.h"
#include "search/report/picture/axis.h"
#include "search/report/picture/svg.h"

namespace hyperopt::internal {

inline constexpr char kGrid[] = "#d9dde3";
inline constexpr char kFaint[] = "#5b6472";

struct PlotSource {
  ReportSource source;
  std::vector<double> values;   // by trial; NaN: none that is finite
  std::vector<size_t> by_rank;  // trials with a value, the best first
  bool minimize = true;

  const RecordedSweep& sweep() const { return *source.sweep; }
  const std::string& metric() const { return sweep().record.sweep.metric; }
  // 0 for the best, 1 for the worst.
  double RankShare(size_t place) const;
};

PlotSource ReadPlotSource(const RecordedSweep& sweep, WallTime now);

// At most `most` of a ranking: its first `head`, and an even sample of the others.
std::vector<size_t> Sampled(const std::vector<size_t>& ranking,
                            size_t most,
                            size_t head);

// A little wider than the values; log where they want it.
Axis AxisFor(const std::vector<double>& values);

// Its axes stretched to the frame, grid, ticks and labels drawn.
void DrawFrame(
    Axis* x, Axis* y, const std::string& x_label, const std::string& y_label, Svg* svg);

std::string EmptyPicture(const std::string& why);

std::string DrawParallel(const PlotSource& plot);
std::string DrawHistory(const PlotSource& plot);
std::string DrawCurves(const PlotSource& plot);
std::string DrawImportance(const PlotSource& plot);
std::string DrawPareto(const PlotSource& plot);

}  // namespace hyperopt::internal

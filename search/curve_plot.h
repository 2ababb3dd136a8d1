// A curve drawn in characters, for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hyperopt {

enum class PlotInk {
  kBraille,  // eight dots a character, successive points joined
  kAscii,    // a * for each point
};
struct PlotSize {
  size_t width = 78;  // columns of the terminal, labels included; at least 24
  size_t height = 8;  // lines without the axis; at least 2
};

// (step, value) by step. Values that are not finite are left out, and counted in a line
// below. The axis is logarithmic, and says so, where all values are above 0 and the
// largest is over 1,000 times the smallest. Lines without a line end; none where no
// value is finite.
//   0.92 |⢇
//        |⠈⠢⣀
//   0.41 |   ⠉⠒⠤⠤⠤
//         1      30
std::vector<std::string> PlotCurve(
    const std::vector<std::pair<int64_t, double>>& points, PlotInk ink, PlotSize size);

}  // namespace hyperopt

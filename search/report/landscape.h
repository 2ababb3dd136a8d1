// The metric over the space as a model sees it (samplers/surrogate.h), on grids small
// enough for a report: a line for each parameter, a map for each pair of the most
// important ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "samplers/surrogate.h"
#include "trial/objective.h"
#include "trial/param_value.h"
#include "trial/space.h"

namespace hyperopt {

// Along one parameter; all others as in trial `base`: the best in which this one takes
// part.
struct LandscapeSlice {
  size_t parameter = 0;  // its place in the space
  size_t base = 0;
  std::vector<ParamValue> at;  // ascending; of a list its values
  std::vector<Estimate> values;
};

struct LandscapeAxis {
  size_t parameter = 0;
  std::vector<ParamValue> at;
};

// `x` and `y` are places in Landscape::axes; x changes fastest.
struct LandscapeMap {
  size_t x = 0, y = 0;
  size_t base = 0;
  std::vector<double> middles;
};

struct Landscape {
  std::string why;  // there is none; empty where there is one
  int64_t used = 0, usable = 0;
  std::vector<LandscapeSlice> slices;  // the most important first
  std::vector<LandscapeAxis> axes;
  std::vector<LandscapeMap> maps;  // the two most important first
};

inline constexpr size_t kMostSlices = 24;
inline constexpr size_t kSlicePlaces = 33;
inline constexpr size_t kMostMapAxes = 6;
inline constexpr size_t kMapPlaces = 20;
// Values of a list beyond these are left out.
inline constexpr size_t kMostCategories = 24;

// `params` and `values` are of the same trials; those whose value is not finite count
// for nothing. `shares`: how important each parameter is (importance.h), or empty, and
// then they count as they are written.
Landscape LandscapeOf(const SearchSpace& space,
                      Goal goal,
                      std::span<const Params> params,
                      std::span<const Objective> values,
                      std::span<const double> shares);

}  // namespace hyperopt

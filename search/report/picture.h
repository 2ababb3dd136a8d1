// Pictures of a sweep for papers: SVG, without a browser.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "search/commands/recorded_sweep.h"
#include "trial/clock.h"

namespace hyperopt {

enum class Picture { kParallel, kHistory, kCurves, kImportance, kPareto };

inline constexpr Picture kAllPictures[] = {Picture::kParallel,
                                           Picture::kHistory,
                                           Picture::kCurves,
                                           Picture::kImportance,
                                           Picture::kPareto};

std::string_view ToString(Picture picture);
std::optional<Picture> PictureFromString(std::string_view text);

// A whole SVG document. Where there is nothing to draw it says so. At most 600 trials
// and 500 curves are drawn, the best and an even sample of the others, and it says how
// many.
std::string DrawPicture(const RecordedSweep& sweep, Picture picture, WallTime now);

}  // namespace hyperopt

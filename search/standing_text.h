// How a configuration that is repeated stands, in words and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "search/repeats.h"
#include "trial/json.h"

namespace hyperopt {

// "0.25 +- 0.02 of 3", "0.25 of 1", "no value"; with what failed: "..., one failed".
std::string MeanText(const Standing& standing);
// "trials 4, 9 and 11".
std::string TrialsText(const Standing& standing);
// {"mean", "error", "n", "failed", "trials": [...], "values": [...]}; no number is
// null.
OrderedJson StandingToJson(const Standing& standing);

}  // namespace hyperopt

// The best trial's parameters for a program: words, YAML, JSON or variables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "search/config.h"
#include "trial/param_value.h"

namespace hyperopt {

enum class BestFormat { kArgs, kYaml, kJson, kEnv, kValue };
std::optional<BestFormat> BestFormatFromString(std::string_view text);

// Ends with a line end.
//   args   one line of words in the style of the command's ${args:...} (--name=value
//          where it has none), with the names of `arg:`
//   yaml   NAME: VALUE, a line each; lists and maps as compact JSON
//   json   one object on one line
//   env    HYPEROPT_PARAM_NAME=VALUE, a line each, as a trial has them
// Words and variables are quoted for a shell where they hold what one would split,
// expand or run. Brackets and commas stay plain: [1,2] is taken as it is both by
// `eval` and by a bare $(...), which does not take quotes away.
// REQUIRES: not kValue.
std::string FormatParams(const SearchConfig& config,
                         const Params& params,
                         BestFormat format);

}  // namespace hyperopt

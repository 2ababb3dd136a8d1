// How a parameter becomes words of a command: the styles of `${args}`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trial/param_value.h"

namespace hyperopt::internal {

// `${args}` is --name=value. What follows a colon changes that, and may be combined:
// `${args:space,dashes}`.
struct ArgStyle {
  bool hydra = false;     // name=value by Hydra's grammar; stands alone
  bool space = false;     // --name value, in two words
  bool dashes = false;    // _ of a name becomes -
  bool flags = false;     // true is --name, false nothing
  bool no_flags = false;  // true is --name, false --no-name
};

// The style of `args` or `args:...`, the inside of a ${...}. nullopt for another name
// and for a style that is wrong, which ProblemWithArgStyle then tells.
std::optional<ArgStyle> ParseArgStyle(std::string_view place);
// REQUIRES: `place` is args or starts with "args:".
std::optional<std::string> ProblemWithArgStyle(std::string_view place);

// Throws ConfigError for a value that Hydra's grammar has no words for: a map with a
// key that holds quotes or a character beyond ASCII.
void AppendArg(const ArgStyle& style,
               std::string_view name,
               const ParamValue& value,
               std::vector<std::string>& words);

// The value as the right side of a Hydra override: reads back as the same value. A text
// is quoted where it would be read as something else, a "${" in it as no interpolation.
std::string HydraValue(const ParamValue& value);

}  // namespace hyperopt::internal

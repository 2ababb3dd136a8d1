// What to search around the value that a person typed once: a first guess, by the
// value's type and its option's name.
#pragma once

#include <string>
#include <string_view>

namespace hyperopt::internal {

struct Guess {
  std::string space;    // YAML: "{space: loguniform, lower: 1e-5, upper: 0.1}"
  std::string comment;  // for the end of its line; may be empty
};

// Whether the option is better left as it is: lengths of a run, seeds, numbers of
// workers, logging, names of files and folders, and what has no range around it.
bool IsBetterFixed(std::string_view name, std::string_view value);
// Whether it names a folder that a trial writes to, so that trials at the same time
// would write over each other.
bool IsOutputFolder(std::string_view name);
// How many epochs or steps a whole run has, by this option's name.
bool IsLength(std::string_view name);

// REQUIRES: not IsBetterFixed(name, value).
Guess GuessSpace(std::string_view name, std::string_view value);
// For an option that is on or off; `categories` is YAML: "[true, false]".
Guess GuessFlag(std::string_view categories);

// A text as one YAML scalar that reads back as this text; plain where it may be.
std::string YamlText(std::string_view text);

}  // namespace hyperopt::internal

// A table of settings to run (`add --csv`): a header of parameter names, a line a
// trial.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trial/param_value.h"
#include "trial/space.h"

namespace hyperopt::internal {

struct GivenSettings {
  Params params;
  std::string place;  // "runs.csv:3"; "" where they were typed
};

// As ParseCsv reads it. An empty cell names nothing. A cell is the text of a category
// where there is one of that text, else a number, true or false (also True, False),
// null, a JSON list or map, or a text. Throws ConfigError with file and line for a
// table that can not be read or a title that `space` does not know. A row of
// empty cells is no trial, and gets a line in `notes`.
std::vector<GivenSettings> ReadSettingsTable(const std::filesystem::path& file,
                                             const SearchSpace& space,
                                             std::vector<std::string>* notes);

}  // namespace hyperopt::internal

// The files of a folder that a pattern names.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hyperopt::internal {

// Plain files under `folder`, relative to it, in name order. `*`, `?` and `[...]`
// within one part of the path, `**` as a part of its own for folders at any depth, none
// too; names that begin with a dot are found only by a pattern that begins with one.
// Links to folders are followed only where the pattern spells them out, so a search
// ends. Looks at 100,000 names at most.
std::vector<std::string> FindFiles(const std::filesystem::path& folder,
                                   std::string_view pattern);

}  // namespace hyperopt::internal

// The one place where YAML is read.
#pragma once

#include <optional>
#include <string>

#include "search/internal/config/problems.h"
#include "search/internal/value.h"

namespace hyperopt::internal {

// The document in `text`. Repeated keys and numbers beyond 64 bits are told and reading
// goes on; a text that is no YAML, is over 8 MiB, is nested over 64 deep, holds several
// documents, or grows beyond measure through aliases is told and gives nullopt.
std::optional<Value> ParseYaml(const std::string& text, int source, Problems& problems);

}  // namespace hyperopt::internal

// YAML 1.2's core schema for plain scalars: null, true, 12, 0x1f, 0o17, 1e-5, .inf.
// Beside YAML 1.1, `1e-5` is a number, and yes, no, on, off are strings.
#pragma once

#include <optional>
#include <string>

#include "search/internal/value.h"

namespace hyperopt::internal {

// Sets kind and value of `scalar` from its text; a text that is nothing else is a
// string. Returns what is wrong with it: a number beyond 64 bits.
std::optional<std::string> ResolvePlain(Value& scalar);

}  // namespace hyperopt::internal

#pragma once

#include <string>
#include <string_view>

namespace hyperopt::internal {

// UTF-8 (no surrogates, no overlong forms) without a NUL byte.
bool IsText(std::string_view bytes);

// The first 200 bytes, printable, to show a line that was no report.
std::string ShownStart(std::string_view bytes);

}  // namespace hyperopt::internal

// The template of page/, made one text by cmake/EmbedPage.cmake at build time.
#pragma once

#include <string_view>

namespace hyperopt::internal {

extern const std::string_view kPageText;

}  // namespace hyperopt::internal

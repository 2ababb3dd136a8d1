// How wide a command's tables may be.
#pragma once

#include <cstddef>

namespace hyperopt {

// Columns of the terminal that stdout is; wide enough for every table where it is none,
// so that nothing is cut in a file or for grep.
size_t TextWidth();

}  // namespace hyperopt

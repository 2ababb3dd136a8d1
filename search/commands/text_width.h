// How wide a command's tables may be.
#pragma once

#include <cstddef>

namespace hyperopt {

// Columns of the terminal that stdout is; wide enough for every table where it is none,
// so that nothing is cut in a file or for grep.
size_t TextWidth();

// Whether a terminal of this locale shows UTF-8: by the locale's name, the first of
// LC_ALL, LC_CTYPE and LANG that is set, as in POSIX.
bool SpeaksUtf8();

}  // namespace hyperopt

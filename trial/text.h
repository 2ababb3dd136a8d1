// Small text functions that several folders share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hyperopt {

// The known name that a person most likely meant by `name`; nullopt where none is
// close. Close: at most max(1, length / 3) insertions, deletions, substitutions and
// swaps of neighbours (Damerau-Levenshtein), where case does not count and `-` is `_`.
// Fewer than there are letters, too: x is not like q. The first of equally close ones;
// `name` itself, where it is known.
std::optional<std::string> NearestName(std::string_view name,
                                       std::span<const std::string> known);

// Without blanks, tabs and line ends at both ends. A view into `text`.
std::string_view Trim(std::string_view text);

// Splits as a POSIX shell does, without being one: blanks part words; '...' is literal;
// "..." is literal but for \" \\ \$ \`; outside quotes a backslash makes the next
// character literal. Nothing is expanded: `*`, `~`, `#` and ${name} stay as written.
// Throws ConfigError on a quote or backslash that does not end, and on what only a
// shell could carry out, where it stands unquoted: | > < ; & ` $( and a line end within
// the text.
std::vector<std::string> SplitShellWords(std::string_view text);

// The word so that a POSIX shell takes it as this one word: as it is where nothing in
// it means something to a shell, else in '...'. For commands that are shown to a
// person.
std::string QuoteShellWord(std::string_view word);

}  // namespace hyperopt

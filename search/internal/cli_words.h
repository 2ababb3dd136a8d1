// Words of the command line that need no parser.
#pragma once

#include <span>
#include <string>

namespace hyperopt::internal {

inline constexpr char kWhatItIs[] =
    "Finds good hyperparameters: samples configurations, runs them as trials side\n"
    "by side, stops the bad ones early, records everything, and goes on after any\n"
    "interruption.\n\n"
    "  hyperopt --config search.yaml      run a search, or go on with it\n"
    "  hyperopt check search.yaml         what it would do, without doing it\n"
    "  hyperopt status                    how the newest sweep is doing\n"
    "  hyperopt best                      its best trial\n";

inline constexpr char kExitCodes[] =
    "Exit codes: 0 done; 1 no trial completed; 2 bad search file or usage; 3 the\n"
    "environment failed, resumable; 130 interrupted, resumable.\n"
    "Where DIR is absent it is the newest sweep under results/.";

// What is said of a word that nothing took. `command` is the subcommand it stood
// behind, "" for none; `known` are the flags or subcommands that could have stood
// there.
std::string UnknownWord(const std::string& word,
                        const std::string& command,
                        std::span<const std::string> known);

// Help with no line wider than `width` where it has a blank to break at; what goes over
// stands below the description it is of.
std::string WrappedHelp(const std::string& help, size_t width);

}  // namespace hyperopt::internal

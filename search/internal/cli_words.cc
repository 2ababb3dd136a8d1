#include "search/internal/cli_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "search/format.h"
#include "trial/text.h"

namespace hyperopt::internal {

std::string UnknownWord(const std::string& word,
                        const std::string& command,
                        std::span<const std::string> known) {
  const char* kind = word.starts_with('-') ? "flag"
                     : command.empty()     ? "command"
                                           : "word";
  const std::string text = fmt::format("{}: unknown {}", word, kind);
  const std::string name = word.substr(0, word.find('='));
  if (const auto nearest = NearestName(name, known)) {
    return fmt::format("{}; did you mean {}?", text, *nearest);
  }
  if (command.empty() && (word.ends_with(".yaml") || word.ends_with(".yml"))) {
    return fmt::format("{}; did you mean --config {}?", text, word);
  }
  return fmt::format("{}; hyperopt{}{} --help shows what there is",
                     text,
                     command.empty() ? "" : " ",
                     command);
}

std::string WrappedHelp(const std::string& help, size_t width) {
  std::string wrapped;
  for (size_t at = 0; at < help.size();) {
    const size_t end = std::min(help.find('\n', at), help.size());
    const std::string line = help.substr(at, end - at);
    // Names, at least two blanks, the description.
    const size_t names = std::min(line.find_first_not_of(' '), line.size());
    const size_t gap = line.find("  ", names);
    const size_t words = line.find_first_not_of(' ', gap);
    wrapped += Wrapped(line, width, words == line.npos ? names : words);
    if (end < help.size()) wrapped += '\n';
    at = end + 1;
  }
  return wrapped;
}

}  // namespace hyperopt::internal

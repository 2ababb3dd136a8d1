#include "search/internal/cli_words.h"

#include <fmt/format.h>

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

}  // namespace hyperopt::internal

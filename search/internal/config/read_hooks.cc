// `hooks`: what is run when something happens to the sweep.
#include "search/internal/config/readers.h"
#include "trial/command.h"

namespace hyperopt::internal {
namespace {

constexpr std::string_view kPlaces[] = {"${config.dir}", "${sweep.name}", "${env."};

// A hook belongs to the sweep, so a trial's values have no place in it.
std::optional<std::string> ProblemWithWord(const std::string& word) {
  if (auto problem = ProblemWithTemplate(word, {})) return problem;
  for (size_t at = word.find("${"); at != word.npos; at = word.find("${", at + 2)) {
    if (at > 0 && word[at - 1] == '$') continue;
    const std::string_view place = std::string_view(word).substr(at);
    bool known = false;
    for (const std::string_view name : kPlaces) known |= place.starts_with(name);
    if (!known) {
      return "a hook knows ${config.dir}, ${sweep.name} and ${env.NAME}; what happened "
             "is JSON on its standard input";
    }
  }
  return std::nullopt;
}

std::vector<std::string> WordsOf(Section& hooks, const char* key) {
  std::vector<std::string> words = ReadWords(hooks, key, "[python3, notify.py]");
  for (const std::string& word : words) {
    if (const auto problem = ProblemWithWord(word)) hooks.Fail(key, *problem);
  }
  return words;
}

}  // namespace

void ReadHooks(Section& top, Reading& reading) {
  if (!top.Has("hooks")) {
    top.Ignore("hooks");
    return;
  }
  Section hooks(top.Take("hooks"), "hooks", reading.problems);
  reading.config.hooks.on_best = WordsOf(hooks, "on_best");
  reading.config.hooks.on_end = WordsOf(hooks, "on_end");
  reading.config.hooks.on_stuck = WordsOf(hooks, "on_stuck");
  hooks.Finish();
}

}  // namespace hyperopt::internal

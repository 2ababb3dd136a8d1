#include <fmt/format.h>

#include "search/internal/config/readers.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt::internal {

std::vector<std::string> ReadWords(Section& section,
                                   const char* key,
                                   const char* such) {
  const Value* value = section.Take(key);
  std::vector<std::string> words;
  if (value == nullptr) return words;
  if (value->is_string()) {
    try {
      words = SplitShellWords(value->text);
    } catch (const ConfigError& error) {
      section.Fail(key, error.what());
      return {};
    }
  }
  for (const Value& item : value->items) {
    if (item.is_broken()) return {};
    if (!item.is_scalar() || item.is_null()) {
      section.problems().Add(
          item.place,
          section.PathOf(key),
          fmt::format("must be a list of words; {} is none", Describe(item)));
      return {};
    }
    words.push_back(item.text);
  }
  if (words.empty() || words.front().empty()) {
    section.Fail(key, fmt::format("must be a list of words, as {}", such));
    return {};
  }
  return words;
}

}  // namespace hyperopt::internal

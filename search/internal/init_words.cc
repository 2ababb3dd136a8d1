#include "search/internal/init_words.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace hyperopt::internal {
namespace {

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool IsOption(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !IsNumber(word);
}

// A name that may stand in ${...} and before a `=`.
bool IsName(std::string_view name) {
  return !name.empty() && (IsLetter(name[0]) || name[0] == '_') &&
         std::ranges::all_of(name, [](char c) {
           return IsLetter(c) || IsDigit(c) || c == '_' || c == '-' || c == '.' ||
                  c == '/';
         });
}

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// A file of a language that is run by naming it.
bool IsScript(std::string_view word) {
  constexpr std::array<std::string_view, 7> kEnds = {
      ".py", ".sh", ".R", ".jl", ".pl", ".rb", ".js"};
  return std::ranges::any_of(kEnds, [word](std::string_view end) {
    return word.size() > end.size() && word.ends_with(end);
  });
}

class WordReader {
 public:
  explicit WordReader(const std::vector<std::string>& words) : words_(words) {}

  // The option that begins at `at`; nullopt for a word that is none or is not
  // understood.
  std::optional<Option> At(size_t at) const {
    const std::string& word = words_[at];
    if (word.starts_with("--") && word.size() > 2) return Long(at);
    const bool is_short = word.size() == 2 && word[0] == '-' && IsLetter(word[1]);
    if (is_short && ValuesAfter(at) == 1) {
      return Option{Option::Form::kShort, word.substr(1), words_[at + 1], 2};
    }
    const size_t equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    const size_t plus = std::min(name.find_first_not_of('+'), name.size());
    if (equals == word.npos || plus > 2 || !IsName(name.substr(plus))) {
      return std::nullopt;
    }
    return Option{Option::Form::kHydra, std::string(name), word.substr(equals + 1), 1};
  }

  // Words that follow and are no options.
  size_t ValuesAfter(size_t at) const {
    size_t count = 0;
    while (at + 1 + count < words_.size() && !IsOption(words_[at + 1 + count])) ++count;
    return count;
  }

 private:
  std::optional<Option> Long(size_t at) const {
    const std::string name = words_[at].substr(2);
    const size_t equals = name.find('=');
    if (equals != name.npos) {
      if (!IsName(name.substr(0, equals))) return std::nullopt;
      return Option{
          Option::Form::kEquals, name.substr(0, equals), name.substr(equals + 1), 1};
    }
    if (!IsName(name)) return std::nullopt;
    const size_t values = ValuesAfter(at);
    if (values == 0) {
      const bool no = name.starts_with("no-") || name.starts_with("no_");
      if (no && name.size() > 3) {
        return Option{Option::Form::kNoFlag, name.substr(3), "", 1};
      }
      return Option{Option::Form::kFlag, name, "", 1};
    }
    // Several numbers are one list, which nobody here knows how to vary.
    const auto first = words_.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    const auto last = first + static_cast<std::ptrdiff_t>(values);
    if (values > 1 && std::all_of(first, last, IsNumber)) return std::nullopt;
    return Option{Option::Form::kSpace, name, words_[at + 1], 2};
  }

  const std::vector<std::string>& words_;
};

}  // namespace

bool IsNumber(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  return !word.empty() &&
         (IsDigit(word[0]) || (word.size() > 1 && word[0] == '.' && IsDigit(word[1])));
}

std::optional<Option> OptionAt(const std::vector<std::string>& words, size_t at) {
  return WordReader(words).At(at);
}

size_t CountOfProgram(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (IsScript(words[i]) && !IsOption(words[i])) return i + 1;
    const bool is_module = words[i] == "-m" && i + 1 < words.size() &&
                           BaseName(words[0]).starts_with("python");
    if (is_module) return i + 2;
  }
  return std::min<size_t>(1, words.size());
}

}  // namespace hyperopt::internal

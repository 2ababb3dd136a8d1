#include "trial/text.h"

#include <algorithm>
#include <cctype>

#include "trial/errors.h"

namespace hyperopt {
namespace {

char Fold(char c) {
  if (c == '-') return '_';
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Damerau-Levenshtein in its "optimal string alignment" form: no part is edited twice.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Fold(a[i - 1]) == Fold(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && Fold(a[i - 1]) == Fold(b[j - 2]) &&
                           Fold(a[i - 2]) == Fold(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// One pass over a command line; each method takes what its name says from the front.
class WordSplitter {
 public:
  explicit WordSplitter(std::string_view text) : text_(text) {}

  std::vector<std::string> Split() {
    while (at_ < text_.size()) Take();
    EndWord();
    return std::move(words_);
  }

 private:
  void Take() {
    const char c = text_[at_++];
    switch (c) {
      case ' ':
      case '\t':
        EndWord();
        return;
      case '\'':
        TakeSingleQuoted();
        return;
      case '"':
        TakeDoubleQuoted();
        return;
      case '\\':
        if (at_ == text_.size()) Fail("ends in a backslash that quotes nothing");
        if (text_[at_] == '\n') {  // a continued line, as in a shell
          ++at_;
        } else {
          Add(text_[at_++]);
        }
        return;
      case '\n':
      case '\r':
        TakeLineEnd();
        return;
      default:
        RefuseOperator(c);
        Add(c);
    }
  }

  void TakeSingleQuoted() {
    const size_t end = text_.find('\'', at_);
    if (end == text_.npos) Fail("has a ' without its partner");
    in_word_ = true;
    word_.append(text_.substr(at_, end - at_));
    at_ = end + 1;
  }

  void TakeDoubleQuoted() {
    in_word_ = true;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return;
      const bool escapes =
          c == '\\' && at_ < text_.size() &&
          std::string_view("\"\\$`\n").find(text_[at_]) != std::string_view::npos;
      if (!escapes) {
        Add(c);
      } else if (text_[at_++] != '\n') {
        Add(text_[at_ - 1]);
      }
    }
    Fail("has a \" without its partner");
  }

  // YAML's `>` and `|` blocks leave one at the end.
  void TakeLineEnd() {
    if (!Trim(text_.substr(at_)).empty()) RefuseShell("a second line");
    EndWord();
  }

  void RefuseOperator(char c) {
    if (std::string_view("|><;&`").find(c) != std::string_view::npos) {
      RefuseShell(std::string(1, c));
    }
    if (c == '$' && at_ < text_.size() && text_[at_] == '(') RefuseShell("$(");
  }

  [[noreturn]] void RefuseShell(const std::string& what) {
    throw ConfigError(
        "the command has " + what +
        ", which only a shell carries out, and none is started: quote it, "
        "or use [sh, -c, '...'] (with parameters as \"$1\" and the words "
        "after it)");
  }

  [[noreturn]] void Fail(const std::string& what) {
    throw ConfigError("the command " + what + ": " + std::string(text_));
  }

  void Add(char c) {
    in_word_ = true;
    word_ += c;
  }

  void EndWord() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<std::string> words_;
  std::string word_;
  bool in_word_ = false;  // '' is a word too
};

}  // namespace

std::optional<std::string> NearestName(std::string_view name,
                                       std::span<const std::string> known) {
  std::optional<std::string> nearest;
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    if (candidate == name) return candidate;
    const size_t distance = EditDistance(name, candidate);
    // All letters changed is no likeness, however few they are.
    const size_t length = std::max(name.size(), candidate.size());
    if (distance < best && distance < length) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string> SplitShellWords(std::string_view text) {
  return WordSplitter(text).Split();
}

std::string QuoteShellWord(std::string_view word) {
  const auto is_plain = [](unsigned char c) {
    constexpr std::string_view kPlain = "_-./:,@%+=";
    return std::isalnum(c) != 0 || c >= 0x80 || kPlain.find(c) != kPlain.npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace hyperopt

// Dicts that programs print: JSON, and Python's repr as the HF Trainer prints its logs.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "executors/internal/line_reader.h"
#include "executors/internal/number_word.h"
#include "executors/internal/utf8.h"

namespace hyperopt {
namespace {

using internal::LineFollower;

constexpr size_t kMostDicts = 16;  // tried in a line
constexpr size_t kDeepest = 64;

bool IsNameChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

std::optional<double> NumberOf(std::string_view word) {
  if (word == "True" || word == "true") return 1;
  if (word == "False" || word == "false") return 0;
  return internal::NumberOrNonFinite(word);
}

// Reads one dict from its brace on. What is no number (texts, lists, objects) is
// stepped over; the grammar is Python's as far as a repr uses it, and JSON's.
class DictScanner {
 public:
  explicit DictScanner(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  bool Dict(ReportLine& out) {
    if (!Take('{')) return false;
    while (!Take('}')) {
      std::string_view key;
      if (!Key(key) || !Take(':') || !Value(key, out)) return false;
      if (Take(',')) continue;
      return Take('}');
    }
    return true;
  }
  size_t size() const { return at_ - begin_; }

 private:
  void Blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  bool Take(char c) {
    Blanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  // A quoted text without its quotes; escapes stay as written.
  bool Quoted(std::string_view& text) {
    Blanks();
    if (at_ == end_ || (*at_ != '\'' && *at_ != '"')) return false;
    const char quote = *at_++;
    const char* start = at_;
    while (at_ < end_ && *at_ != quote) at_ += *at_ == '\\' && end_ - at_ > 1 ? 2 : 1;
    if (at_ == end_) return false;
    text = {start, static_cast<size_t>(at_++ - start)};
    return true;
  }

  bool Key(std::string_view& key) {
    if (Quoted(key)) return true;
    const char* start = at_;
    while (at_ < end_ && (IsNameChar(*at_) || *at_ == '-')) ++at_;
    key = {start, static_cast<size_t>(at_ - start)};
    return !key.empty();
  }

  bool Value(std::string_view key, ReportLine& out) {
    Blanks();
    if (at_ == end_) return false;
    std::string_view word;
    std::optional<double> value;
    if (*at_ == '\'' || *at_ == '"') {
      if (!Quoted(word)) return false;
      value = internal::NumberOrNonFinite(word);
    } else if (std::strchr("{[(", *at_) != nullptr) {
      if (!Nested()) return false;
    } else if (!Plain(word, value)) {
      return false;
    }
    Put(key, word, value, out);
    return true;
  }

  // 0.5, None, nan, np.float64(0.5), tensor(0.5, device='cuda:0'), <object>.
  bool Plain(std::string_view& word, std::optional<double>& value) {
    const char* start = at_;
    while (at_ < end_ && std::strchr(",}(", *at_) == nullptr) ++at_;
    word = {start, static_cast<size_t>(at_ - start)};
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (at_ == end_ || word.empty()) return false;
    if (*at_ != '(') {
      value = NumberOf(word);
      return true;
    }
    if (!std::all_of(word.begin(), word.end(), IsNameChar)) return Nested();
    const char* inside = at_ + 1;
    if (!Nested()) return false;
    const std::string_view arguments(inside, at_ - 1 - inside);
    word = arguments.substr(0, arguments.find(','));
    if (word.size() > 2 && (word[0] == '\'' || word[0] == '"')) {
      word = word.substr(1, word.size() - 2);
    }
    value = NumberOf(word);
    return true;
  }

  bool Nested() {
    std::string open;
    do {
      if (at_ == end_ || open.size() > kDeepest) return false;
      const char c = *at_;
      if (c == '\'' || c == '"') {
        std::string_view text;
        if (!Quoted(text)) return false;
        continue;
      }
      if (c == '{') open.push_back('}');
      if (c == '[') open.push_back(']');
      if (c == '(') open.push_back(')');
      if (c == '}' || c == ']' || c == ')') {
        if (open.back() != c) return false;
        open.pop_back();
      }
      ++at_;
    } while (!open.empty());
    return true;
  }

  static void Put(std::string_view key,
                  std::string_view word,
                  std::optional<double> value,
                  ReportLine& out) {
    if (!value) return;
    if (key == "step") {
      out.step = internal::Integer(word, *value);
      if (out.step) return;
    }
    out.values.insert_or_assign(std::string(key), *value);
  }

  const char* begin_;
  const char* at_;
  const char* end_;
};

class DictReader final : public internal::LineReader {
 public:
  DictReader(const std::filesystem::path& file, const SourceId& source)
      : LineReader(file, source, internal::LineEnds::kCarriageReturnToo) {}

 private:
  void Take(const LineFollower::Line& line, SourceRead& read) override {
    auto dicts = ParseDicts(line.text);
    for (auto& [end, report] : dicts) {
      // Keys within the line, and the last one is the line's own.
      report.end_offset =
          line.end_offset - static_cast<int64_t>(dicts.back().first - end);
      read.lines.push_back(std::move(report));
    }
  }
};

}  // namespace

std::vector<std::pair<size_t, ReportLine>> ParseDicts(std::string_view line) {
  std::vector<std::pair<size_t, ReportLine>> dicts;
  size_t at = line.find('{');
  for (size_t tries = 0; at != line.npos && tries < kMostDicts; ++tries) {
    ReportLine report;
    DictScanner scanner(line.substr(at));
    const bool is_dict = scanner.Dict(report);
    // One of dicts only ({"eval": {"loss": 0.5}}) is looked into.
    const bool is_report = is_dict && (!report.values.empty() || report.step);
    const size_t next = is_report ? at + scanner.size() : at + 1;
    if (is_report && internal::IsText(line.substr(at, scanner.size()))) {
      dicts.emplace_back(next, std::move(report));
    }
    at = line.find('{', next);
  }
  return dicts;
}

std::unique_ptr<ReportReader> NewDictReader(const std::filesystem::path& file,
                                            const SourceId& source) {
  return std::make_unique<DictReader>(file, source);
}

}  // namespace hyperopt

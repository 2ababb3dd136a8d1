#include <charconv>
#include <cstring>

#include "executors/internal/number_word.h"
#include "executors/internal/utf8.h"
#include "executors/report_reader.h"

namespace hyperopt {
namespace {

using internal::Integer;
using internal::NonFinite;
using internal::Number;

constexpr size_t kLongestLine = 1 << 20;

void AppendUtf8(unsigned code, std::string& out) {
  const auto put = [&out](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

// Reads one flat object; what is nested is stepped over by its brackets. A tree of the
// line would cost several times as much, and a chatty trial writes thousands a second.
class Scanner {
 public:
  explicit Scanner(std::string_view line)
      : at_(line.data()), end_(line.data() + line.size()) {}

  // False where the line is no JSON object.
  bool Object(ReportLine& out) {
    if (!Take('{')) return false;
    if (Take('}')) return AtEnd();
    do {
      std::string_view key;
      Blanks();
      if (!String(key, key_buffer_) || !Take(':') || !Value(key, out)) return false;
    } while (Take(','));
    return Take('}') && AtEnd();
  }

 private:
  void Blanks() {
    while (at_ < end_ &&
           (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) {
      ++at_;
    }
  }
  bool Take(char c) {
    Blanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool AtEnd() {
    Blanks();
    return at_ == end_;
  }

  bool Value(std::string_view key, ReportLine& out) {
    Blanks();
    if (at_ == end_) return false;
    if (*at_ == '"') {
      std::string_view text;
      if (!String(text, value_buffer_)) return false;
      Put(key, text, NonFinite(text), out);
      return true;
    }
    if (*at_ == '{' || *at_ == '[') {
      Put(key, "", std::nullopt, out);
      return Nested();
    }
    const char* start = at_;
    while (at_ < end_ && std::strchr(",}] \t\r\n", *at_) == nullptr) ++at_;
    const std::string_view word(start, at_ - start);
    if (word == "null") {
      Put(key, word, std::nullopt, out);
      return true;
    }
    std::optional<double> value = Number(word);
    if (!value && word == "true") value = 1;
    if (!value && word == "false") value = 0;
    if (!value) value = NonFinite(word);
    if (!value) return false;
    Put(key, word, value, out);
    return true;
  }

  // A repeated key: the last counts, also where it is no number.
  static void Put(std::string_view key,
                  std::string_view word,
                  std::optional<double> value,
                  ReportLine& out) {
    if (key == "step") {
      out.step = value ? Integer(word, *value) : std::nullopt;
      if (out.step) value.reset();  // else it is a number as any other
    }
    if (value) {
      out.values.insert_or_assign(std::string(key), *value);
    } else if (!out.values.empty()) {
      out.values.erase(std::string(key));
    }
  }

  // `text` is in the line, or in `buffer` where it had escapes.
  bool String(std::string_view& text, std::string& buffer) {
    if (at_ == end_ || *at_ != '"') return false;
    const char* start = ++at_;
    while (at_ < end_ && *at_ != '"' && *at_ != '\\') {
      if (static_cast<unsigned char>(*at_) < 0x20) return false;
      ++at_;
    }
    if (at_ == end_) return false;
    if (*at_ == '"') {
      text = {start, static_cast<size_t>(at_++ - start)};
      return true;
    }
    buffer.assign(start, at_);
    while (at_ < end_ && *at_ != '"') {
      if (static_cast<unsigned char>(*at_) < 0x20) return false;
      if (*at_ == '\\') {
        if (!Escape(buffer)) return false;
      } else {
        buffer.push_back(*at_++);
      }
    }
    if (at_ == end_) return false;
    ++at_;
    text = buffer;
    return true;
  }

  bool Escape(std::string& out) {
    if (end_ - at_ < 2) return false;
    const char c = at_[1];
    at_ += 2;
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const size_t i = kNames.find(c); i != kNames.npos) {
      out.push_back(kMeanings[i]);
      return true;
    }
    unsigned code = 0;
    if (c != 'u' || !Hex4(code)) return false;
    unsigned low = 0;
    const char* before = at_;
    if (code >= 0xd800 && code < 0xdc00 && end_ - at_ >= 6 && at_[0] == '\\' &&
        at_[1] == 'u') {
      at_ += 2;
      if (!Hex4(low)) return false;
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      } else {
        at_ = before;
      }
    }
    const bool is_half = code >= 0xd800 && code < 0xe000;
    AppendUtf8(is_half ? 0xfffd : code, out);
    return true;
  }

  bool Hex4(unsigned& code) {
    if (end_ - at_ < 4) return false;
    const auto [stop, error] = std::from_chars(at_, at_ + 4, code, 16);
    const bool fine = error == std::errc() && stop == at_ + 4;
    at_ += 4;
    return fine;
  }

  bool Nested() {
    open_.clear();
    do {
      if (at_ == end_) return false;
      const char c = *at_;
      if (c == '"') {
        std::string_view text;
        if (!String(text, value_buffer_)) return false;
        continue;
      }
      if (c == '{' || c == '[') open_.push_back(c == '{' ? '}' : ']');
      if (c == '}' || c == ']') {
        if (open_.back() != c) return false;
        open_.pop_back();
      }
      ++at_;
    } while (!open_.empty());
    return true;
  }

  const char* at_;
  const char* end_;
  std::string key_buffer_;
  std::string value_buffer_;
  std::string open_;  // the brackets that will close what is open
};

}  // namespace

std::optional<ReportLine> ParseReportLine(std::string_view line, Oddities* odd) {
  const auto no_report = [&](int64_t Oddities::*kind) {
    ++(odd->*kind);
    if (odd->first.empty()) odd->first = internal::ShownStart(line);
    return std::nullopt;
  };
  if (line.size() > kLongestLine) return no_report(&Oddities::too_long);
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);  // a BOM
  if (line.find_first_not_of(" \t\r\n") == line.npos) return std::nullopt;
  if (!internal::IsText(line)) return no_report(&Oddities::binary);
  ReportLine report;
  if (!Scanner(line).Object(report)) return no_report(&Oddities::not_json);
  if (report.values.empty() && !report.step) return no_report(&Oddities::no_number);
  return report;
}

}  // namespace hyperopt

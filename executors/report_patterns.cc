#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include "executors/internal/line_follower.h"
#include "executors/internal/line_reader.h"
#include "executors/internal/utf8.h"
#include "executors/report_reader.h"
#include "trial/errors.h"
#include "trial/json.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

using internal::LineFollower;

// Of a line: std::regex works on each character, and nobody prints a loss further out.
constexpr size_t kSearched = 4 << 10;

struct Pattern {
  std::string field;
  std::regex regex;
};

// ECMAScript, matched breadth first where the pattern allows (no back-reference): the
// other way recurses once a character and overflows the stack on a long line, and takes
// exponential time on patterns like (a+)+b.
std::regex Compile(const std::string& field, const std::string& text) {
  using namespace std::regex_constants;  // NOLINT: flags
  try {
    return std::regex(text, ECMAScript | __polynomial);
  } catch (const std::regex_error&) {
  }
  try {
    return std::regex(text, ECMAScript);
  } catch (const std::regex_error& error) {
    throw ConfigError(fmt::format(
        "read.output.{}: {}: no regular expression: {}", field, text, error.what()));
  }
}

// One field of a report is read as a report line's is. \S+ takes what ends the number
// in a text along: 0.3, or (0.3) or 41%.
std::optional<ReportLine> ReadField(const std::string& field, std::string_view word) {
  constexpr std::string_view kBehindNumbers = ",;)%]}.";
  word = Trim(word);
  while (true) {
    Oddities ignored;
    auto read =
        ParseReportLine(fmt::format("{{{}:{}}}", QuoteJson(field), word), &ignored);
    if (read || word.empty() || kBehindNumbers.find(word.back()) == word.npos) {
      return read;
    }
    word.remove_suffix(1);
  }
}

class PatternReader final : public ReportReader {
 public:
  PatternReader(std::filesystem::path file,
                const SourceId& source,
                const std::vector<std::pair<std::string, std::string>>& patterns)
      : file_(std::move(file)),
        follower_(file_, source, internal::LineEnds::kCarriageReturnToo) {
    for (const auto& [field, text] : patterns) {
      patterns_.push_back({field, Compile(field, text)});
    }
  }

  std::optional<SourceRead> Read(ReadMode mode, int64_t max_bytes) override {
    RecallHead();
    SourceRead read;
    const auto progress =
        follower_.Read(mode, max_bytes, [&](const LineFollower::Line& line) {
          ForgetOldGeneration();
          if (auto report = Match(line.text, read.oddities)) {
            report->end_offset = line.end_offset;
            read.lines.push_back(*std::move(report));
          }
        });
    if (!progress.something) return std::nullopt;
    read.from = progress.from;
    read.upto = follower_.position();
    read.more = progress.more;
    return read;
  }

  void Seek(const SourceOffset& to) override {
    follower_.Seek(to);
    must_recall_ = true;
  }
  const SourceOffset& position() const override { return follower_.position(); }

 private:
  // The report that a line gives, with what the head said last.
  std::optional<ReportLine> Match(std::string_view line, Oddities& odd) {
    const std::string text(line.substr(0, kSearched));
    ReportLine report;
    std::set<std::string> matched;
    for (const Pattern& pattern : patterns_) {
      std::smatch match;
      if (!std::regex_search(text, match, pattern.regex)) continue;
      const std::string word = match.str(match.size() > 1 ? 1 : 0);
      const auto field = ReadField(pattern.field, word);
      if (!field) {
        NoteNoNumber(pattern.field, word, odd);
        continue;
      }
      matched.insert(pattern.field);
      if (field->step) report.step = field->step;
      report.values.insert(field->values.begin(), field->values.end());
    }
    if (matched.empty()) return std::nullopt;
    if (head_.empty()) head_ = matched;
    Hold(matched, report);
    if (matched.size() == matched.count("step")) return std::nullopt;
    if (!report.step) report.step = held_.step;
    report.values.insert(held_.values.begin(), held_.values.end());
    return report;
  }

  static void NoteNoNumber(const std::string& field,
                           const std::string& word,
                           Oddities& odd) {
    internal::CountOdd(
        &Oddities::no_number,
        fmt::format("{}the expression of {} matched `{}`, which is no number",
                    kReaderSays,
                    field,
                    word.substr(0, kShownOfMatch)),
        odd);
  }

  void Hold(const std::set<std::string>& matched, const ReportLine& report) {
    if (report.step) held_.step = report.step;
    for (const std::string& field : head_) {
      const auto value = report.values.find(field);
      if (matched.contains(field) && value != report.values.end()) {
        held_.values[field] = value->second;
      }
    }
  }

  void ForgetOldGeneration() {
    const int32_t now = follower_.position().source.generation;
    if (now == generation_) return;
    generation_ = now;
    head_.clear();
    held_ = {};
  }

  // After a restart: what the lines before the committed place said.
  void RecallHead() {
    if (!must_recall_) return;
    must_recall_ = false;
    head_.clear();
    held_ = {};
    generation_ = follower_.position().source.generation;
    std::ifstream in(file_, std::ios::binary);
    const int64_t upto = follower_.position().offset;
    RecallFrom(in, 0, std::min(upto, kRecalled));
    if (upto > kRecalled) RecallFrom(in, std::max(kRecalled, upto - kRecalled), upto);
  }
  void RecallFrom(std::ifstream& in, int64_t from, int64_t upto) {
    std::string text(upto - from, '\0');
    in.seekg(from);
    in.read(text.data(), upto - from);
    text.resize(in.gcount());
    in.clear();
    std::string_view rest = text;
    Oddities said_before;
    while (!rest.empty()) {
      const size_t end = rest.find_first_of("\r\n");
      Match(rest.substr(0, end), said_before);
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
  }

  static constexpr int64_t kRecalled = 1 << 20;
  static constexpr size_t kShownOfMatch = 60;

  const std::filesystem::path file_;
  LineFollower follower_;
  std::vector<Pattern> patterns_;
  std::set<std::string> head_;  // the fields of the first line that matched
  ReportLine held_;             // their last values, and the last step
  int32_t generation_ = 0;      // of the lines they came from
  bool must_recall_ = true;
};

}  // namespace

std::unique_ptr<ReportReader> NewPatternReader(
    const std::filesystem::path& file,
    const SourceId& source,
    const std::vector<std::pair<std::string, std::string>>& patterns) {
  return std::make_unique<PatternReader>(file, source, patterns);
}

}  // namespace hyperopt

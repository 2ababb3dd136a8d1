// Tables that loggers write: Lightning's CSVLogger, Keras' CSVLogger, pandas.
#include <algorithm>
#include <bit>
#include <fstream>
#include <map>

#include "executors/internal/line_reader.h"
#include "executors/internal/number_word.h"
#include "executors/internal/utf8.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

using internal::CountOdd;
using internal::LineFollower;
using Cells = std::vector<std::string>;

constexpr size_t kMostRows = 1 << 20;  // that are known again after a rewrite

Cells Split(std::string_view line, char between) {
  Cells cells(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == between && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) cell = std::string(Trim(cell));
  return cells;
}

char BetweenCells(std::string_view titles) {
  for (const char c : {',', '\t', ';'}) {
    if (titles.find(c) != titles.npos) return c;
  }
  return ',';
}

std::optional<double> CellValue(std::string_view cell) {
  if (cell == "True" || cell == "true") return 1;
  if (cell == "False" || cell == "false") return 0;
  return internal::NumberOrNonFinite(cell);
}

// Words throughout, so titles; a row may have empty cells and NA, which titles have
// not.
bool AreTitles(const Cells& cells) {
  for (const std::string& cell : cells) {
    if (cell.empty() || cell == "NA" || cell == "None" || CellValue(cell)) return false;
  }
  return true;
}

ReportLine ReportOf(const Cells& titles, const Cells& cells) {
  ReportLine report;
  for (size_t i = 0; i < std::min(titles.size(), cells.size()); ++i) {
    const std::optional<double> value = CellValue(cells[i]);
    if (!value || titles[i].empty()) continue;
    if (titles[i] == "step") report.step = internal::Integer(cells[i], *value);
    if (titles[i] != "step" || !report.step) {
      report.values.insert_or_assign(titles[i], *value);
    }
  }
  return report;
}

// Control characters are UTF-8, and no part of a title.
bool IsPrintable(std::string_view line) {
  return internal::IsText(line) && std::ranges::none_of(line, [](unsigned char c) {
           return (c < 0x20 && c != '\t' && c != '\r') || c == 0x7f;
         });
}

// What a row says, whatever columns stand around it.
uint64_t Fingerprint(const ReportLine& report) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto add = [&hash](const void* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) {
      hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
    }
  };
  const int64_t step = report.step.value_or(-1);
  add(&step, sizeof step);
  for (const auto& [name, value] : report.values) {
    add(name.c_str(), name.size() + 1);
    add(&value, sizeof value);
  }
  return hash;
}

class CsvReader final : public internal::LineReader {
 public:
  CsvReader(const std::filesystem::path& file, const SourceId& source)
      : LineReader(file, source, internal::LineEnds::kNewline), file_(file) {
    follower_.WatchStart();
  }

  void Seek(const SourceOffset& to) override {
    LineReader::Seek(to);
    must_recall_ = true;
  }

 private:
  void Begin() override {
    if (!must_recall_) return;
    must_recall_ = false;
    Forget();
    earlier_.clear();
    generation_ = follower_.position().source.generation;
    std::ifstream in(file_, std::ios::binary);
    std::string line;
    for (int64_t left = follower_.position().offset; left > 0 && std::getline(in, line);
         left -= static_cast<int64_t>(line.size()) + 1) {
      Oddities said_before;
      TakeRow(line, said_before);
    }
  }

  void Take(const LineFollower::Line& line, SourceRead& read) override {
    NoteGeneration();
    auto report = TakeRow(line.text, read.oddities);
    if (!report || IsKnown()) return;
    report->end_offset = line.end_offset;
    read.lines.push_back(*std::move(report));
  }

  void Forget() {
    titles_.clear();
    rows_.clear();
    row_count_ = 0;
    is_no_table_ = false;
  }

  void NoteGeneration() {
    const int32_t now = follower_.position().source.generation;
    if (now == generation_) return;
    generation_ = now;
    // A rewrite that was itself cut short said less than the one before it.
    if (rows_.size() >= earlier_.size() || !same_so_far_) earlier_ = std::move(rows_);
    same_so_far_ = true;
    Forget();
  }

  // Whether the row taken last stood in the same place before the file was rewritten.
  bool IsKnown() {
    if (row_count_ > earlier_.size() || !same_so_far_) return false;
    same_so_far_ = last_row_ == earlier_[row_count_ - 1];
    return same_so_far_;
  }

  // The row's report; nullopt for titles, blank lines and what has no number.
  std::optional<ReportLine> TakeRow(std::string_view line, Oddities& odd) {
    if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (Trim(line).empty() || is_no_table_) return std::nullopt;
    if (titles_.empty() && !IsPrintable(line)) {
      is_no_table_ = true;
      CountOdd(&Oddities::binary,
               std::string(kReaderSays) + follower_.position().source.name +
                   " is no table: its first line is not UTF-8 text",
               odd);
      return std::nullopt;
    }
    if (!internal::IsText(line)) {
      CountOdd(&Oddities::binary, line, odd);
      return std::nullopt;
    }
    if (titles_.empty()) between_ = BetweenCells(line);
    Cells cells = Split(line, between_);
    if (AreTitles(cells)) {
      titles_ = std::move(cells);
      return std::nullopt;
    }
    if (titles_.empty() || cells.size() > titles_.size()) {
      CountOdd(&Oddities::not_json, line, odd);
      return std::nullopt;
    }
    ReportLine report = ReportOf(titles_, cells);
    if (report.values.empty() && !report.step) {
      CountOdd(&Oddities::no_number, line, odd);
      return std::nullopt;
    }
    last_row_ = Fingerprint(report);
    if (++row_count_ <= kMostRows) rows_.push_back(last_row_);
    return report;
  }

  const std::filesystem::path file_;
  Cells titles_;
  char between_ = ',';
  std::vector<uint64_t> rows_;     // of this generation, in order
  std::vector<uint64_t> earlier_;  // of the one before it
  size_t row_count_ = 0;
  uint64_t last_row_ = 0;
  bool same_so_far_ = true;
  int32_t generation_ = 0;
  bool must_recall_ = false;
  bool is_no_table_ = false;  // binary: what looks like rows further on is none
};

}  // namespace

std::unique_ptr<ReportReader> NewCsvReader(const std::filesystem::path& file,
                                           const SourceId& source) {
  return std::make_unique<CsvReader>(file, source);
}

}  // namespace hyperopt

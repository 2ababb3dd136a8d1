#include "search/internal/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "trial/text.h"

namespace hyperopt::internal {
namespace {

using Row = std::vector<CsvCell>;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

char SeparatorOf(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  for (const char c : {',', '\t', ';'}) {
    if (first.find(c) != first.npos) return c;
  }
  return ',';
}

// One pass over the text.
class CsvReader {
 public:
  CsvReader(std::string_view text, int source, Problems& problems)
      : text_(text), separator_(SeparatorOf(text)), problems_(problems) {
    place_ = {source, 1, 1};
  }

  // Lines without text too.
  std::vector<Row> Read() {
    std::vector<Row> rows;
    while (at_ < text_.size()) rows.push_back(TakeRow());
    return rows;
  }

 private:
  Row TakeRow() {
    Row row;
    do {
      row.push_back(TakeCell());
    } while (Accept(separator_));
    Accept('\r');
    Accept('\n');
    return row;
  }

  CsvCell TakeCell() {
    SkipBlanks();
    CsvCell cell{"", place_};
    if (Accept('"')) {
      TakeQuoted(cell);
      SkipBlanks();
    }
    // Text after a closing quote is kept, as spreadsheets do.
    while (at_ < text_.size() && !AtEnd()) cell.text += Take();
    cell.text = std::string(Trim(cell.text));
    return cell;
  }

  void TakeQuoted(CsvCell& cell) {
    while (at_ < text_.size()) {
      if (!Accept('"')) {
        cell.text += Take();
      } else if (Accept('"')) {
        cell.text += '"';
      } else {
        return;
      }
    }
    problems_.Add(cell.place, "", "this quote does not end");
  }

  bool AtEnd() const {
    const char c = text_[at_];
    return c == separator_ || c == '\n' || text_.substr(at_).starts_with("\r\n");
  }

  void SkipBlanks() {
    while (at_ < text_.size() && text_[at_] == ' ') Take();
  }

  bool Accept(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    Take();
    return true;
  }

  char Take() {
    const char c = text_[at_++];
    ++place_.column;
    if (c == '\n') {
      ++place_.line;
      place_.column = 1;
    }
    return c;
  }

  const std::string_view text_;
  const char separator_;
  Problems& problems_;
  size_t at_ = 0;
  Place place_;
};

bool SaysNothing(const Row& row) {
  return std::ranges::all_of(row,
                             [](const CsvCell& cell) { return cell.text.empty(); });
}

// Takes the rows without any text out; a blank line at the end, or where there are
// several titles, is no row at all.
std::vector<Place> TakeEmptyRows(std::vector<Row>* rows, size_t titles) {
  while (!rows->empty() && rows->back().size() == 1 && SaysNothing(rows->back())) {
    rows->pop_back();
  }
  std::vector<Place> places;
  for (const Row& row : *rows) {
    if (SaysNothing(row) && row.size() == titles) places.push_back(row.front().place);
  }
  std::erase_if(*rows, SaysNothing);
  return places;
}

void CheckTitles(const Row& titles, Problems& problems) {
  std::set<std::string> seen;
  for (const CsvCell& title : titles) {
    if (title.text.empty()) {
      problems.Add(title.place, "", "a column has no title");
    } else if (!seen.insert(title.text).second) {
      problems.Add(
          title.place, "", fmt::format("another column is called {}, too", title.text));
    }
  }
}

}  // namespace

std::optional<CsvTable> ParseCsv(const std::string& text,
                                 int source,
                                 Problems& problems) {
  std::string_view rest = text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  const size_t before = problems.Lines().size();
  std::vector<Row> rows = CsvReader(rest, source, problems).Read();
  rows.erase(rows.begin(),
             std::ranges::find_if_not(rows, SaysNothing));  // before the titles
  if (rows.empty()) {
    problems.Add({source, 0, 0}, "", "the table is empty: its first line has titles");
    return std::nullopt;
  }
  CsvTable table;
  table.titles = std::move(rows.front());
  rows.erase(rows.begin());
  table.empty_rows = TakeEmptyRows(&rows, table.titles.size());
  table.rows = std::move(rows);
  CheckTitles(table.titles, problems);
  for (const Row& row : table.rows) {
    if (row.size() == table.titles.size()) continue;
    problems.Add(row.front().place,
                 "",
                 fmt::format("the row has {} cells, and there are {} titles",
                             row.size(),
                             table.titles.size()));
  }
  const bool sound = problems.Lines().size() == before;
  return sound ? std::optional(std::move(table)) : std::nullopt;
}

}  // namespace hyperopt::internal

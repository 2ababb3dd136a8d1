#include "trainer/csv.h"

#include <fmt/format.h>

#include <set>

#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  bool AtEnd() const { return at_ == text_.size(); }
  int64_t line() const { return line_; }

  // The fields of the next record; `fields` is emptied first.
  void ReadRecord(std::vector<std::string>& fields) {
    fields.clear();
    do {
      fields.push_back(Peek() == '"' ? ReadQuoted() : ReadPlain());
    } while (TakeComma());
    TakeLineEnd();
  }

  [[noreturn]] void Fail(int64_t line, std::string_view what) const {
    throw ConfigError(fmt::format("{}:{}: {}", name_, line, what));
  }

 private:
  // '\n' stands for the end of the text as well.
  char Peek() const { return AtEnd() ? '\n' : text_[at_]; }
  bool AtLineEnd() const {
    if (Peek() == '\n') return true;
    return Peek() == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n');
  }

  bool TakeComma() {
    if (AtEnd() || text_[at_] != ',') return false;
    ++at_;
    return true;
  }

  void TakeLineEnd() {
    if (!AtLineEnd()) Fail(line_, "text after a closing quote");
    if (Peek() == '\r') ++at_;
    if (!AtEnd()) ++at_;
    ++line_;
  }

  std::string ReadPlain() {
    const size_t start = at_;
    while (Peek() != ',' && !AtLineEnd()) {
      if (text_[at_] == '"') Fail(line_, "a quote inside a field that is not quoted");
      if (text_[at_] == '\0') Fail(line_, "a NUL byte; is this a text file?");
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  std::string ReadQuoted() {
    const int64_t start_line = line_;
    std::string field;
    for (++at_;; ++at_) {
      if (AtEnd()) Fail(start_line, "a quoted field that does not end");
      if (text_[at_] == '"') {
        ++at_;
        if (AtEnd() || text_[at_] != '"') return field;
      }
      if (text_[at_] == '\n') ++line_;
      field += text_[at_];
    }
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

void CheckHeader(const Parser& parser, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) parser.Fail(1, fmt::format("column {} has no name", i + 1));
    if (!seen.insert(names[i]).second) {
      parser.Fail(1, fmt::format("two columns are called {}", names[i]));
    }
  }
}

}  // namespace

std::optional<size_t> Table::Find(std::string_view name) const {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
  }
  return std::nullopt;
}

Table ParseCsv(std::string_view text, const std::string& name) {
  Parser parser(text, name);
  Table table;
  if (!parser.AtEnd()) parser.ReadRecord(table.names);
  CheckHeader(parser, table.names);
  table.columns.resize(table.names.size());
  std::vector<std::string> fields;
  while (!parser.AtEnd()) {
    const int64_t line = parser.line();
    parser.ReadRecord(fields);
    const bool empty_line = fields.size() == 1 && fields[0].empty();
    if (empty_line && table.names.size() > 1) continue;
    if (fields.size() != table.names.size()) {
      parser.Fail(
          line,
          fmt::format(
              "{} fields where the header has {}", fields.size(), table.names.size()));
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      table.columns[i].push_back(std::move(fields[i]));
    }
  }
  if (table.rows() == 0) parser.Fail(1, "no rows");
  return table;
}

Table ReadCsv(const std::filesystem::path& path) {
  const auto text = ReadFile(path);
  if (!text) throw ConfigError(fmt::format("{}: no such file", path.string()));
  return ParseCsv(*text, path.string());
}

}  // namespace hyperopt

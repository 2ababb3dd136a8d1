// A strict reader of CSV (RFC 4180). Ours, because what is wrong with a table must be
// told with its line before a sweep starts, and the libraries at hand skip or pad.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hyperopt {

// A table of texts, column by column; all columns are equally long.
struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;

  size_t rows() const { return columns.empty() ? 0 : columns[0].size(); }
  // nullopt where there is no such column.
  std::optional<size_t> Find(std::string_view name) const;
};

// Comma separated, the first record is the header. Fields may be quoted, with "" for a
// quote; lines end in LF, CRLF or the end of the text; a UTF-8 byte order mark is
// skipped; empty lines are skipped unless there is only one column. Throws ConfigError
// "NAME:LINE: ..." on a ragged record, a stray or unended quote, a NUL, an empty or
// repeated column name, and where there is no record beside the header.
Table ParseCsv(std::string_view text, const std::string& name);

// Throws ConfigError where the file is not there or is no table.
Table ReadCsv(const std::filesystem::path& path);

}  // namespace hyperopt

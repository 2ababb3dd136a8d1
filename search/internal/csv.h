// Tables that people write: a CSV text as cells that know where they stand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/internal/config/problems.h"

namespace hyperopt::internal {

struct CsvCell {
  std::string text;  // without quotes and blanks around it
  Place place;
};

struct CsvTable {
  std::vector<CsvCell> titles;             // not empty, each once
  std::vector<std::vector<CsvCell>> rows;  // each as many cells as titles
  // Rows whose cells are all empty, which are not among `rows`; where there is one
  // title, those before the last row.
  std::vector<Place> empty_rows;
};

// RFC 4180, by commas, or by tabs or semicolons where the first line has no comma;
// "..." may hold separators, line ends and "" for a quote. Lines without any text are
// passed over, and so is a byte order mark. A missing or repeated title, a row of
// another length and a quote that does not end are told; the result is then nullopt.
std::optional<CsvTable> ParseCsv(const std::string& text,
                                 int source,
                                 Problems& problems);

}  // namespace hyperopt::internal

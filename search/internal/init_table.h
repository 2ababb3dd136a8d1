// A search file to start from, for a table: the built-in trainer's, as Ludwig writes
// it.
#pragma once

#include <string>
#include <string_view>

#include "search/internal/csv.h"

namespace hyperopt::internal {

struct InitTable {
  std::string dataset;  // as the search file names it
  std::string target;   // a title of the table
  std::string file;     // the search file, as a person names it
  std::string typed;    // the flags that made it, for its first line
};

// The commented text of the file. Throws ConfigError where the table has no such column
// or nothing to learn from.
std::string SearchFileForTable(const InitTable& init, const CsvTable& table);

}  // namespace hyperopt::internal

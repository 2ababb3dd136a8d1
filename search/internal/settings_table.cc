#include "search/internal/settings_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "search/config.h"
#include "search/internal/csv.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt::internal {
namespace {

bool IsCategory(const Domain& domain, const ParamValue& value) {
  const auto has = [&](const std::vector<ParamValue>& values) {
    return std::ranges::find(values, value) != values.end();
  };
  if (const auto* list = std::get_if<CategoricalDomain>(&domain)) {
    return has(list->values);
  }
  const auto* grid = std::get_if<GridDomain>(&domain);
  return grid != nullptr && has(grid->values);
}

ParamValue ValueOf(const std::string& cell, const Domain& domain) {
  if (IsCategory(domain, cell)) return cell;
  if (cell == "True" || cell == "true") return true;
  if (cell == "False" || cell == "false") return false;
  const char* end = cell.data() + cell.size();
  int64_t whole = 0;
  if (const auto read = std::from_chars(cell.data(), end, whole);
      read.ec == std::errc() && read.ptr == end) {
    return whole;
  }
  double number = 0;
  if (const auto read = std::from_chars(cell.data(), end, number);
      read.ec == std::errc() && read.ptr == end) {
    return number;
  }
  if (cell != "null" && !cell.starts_with('[') && !cell.starts_with('{')) return cell;
  try {
    return ParamValueFromJsonText(cell);
  } catch (const ConfigError&) {
    return cell;
  }
}

}  // namespace

std::vector<GivenSettings> ReadSettingsTable(const std::filesystem::path& file,
                                             const SearchSpace& space,
                                             std::vector<std::string>* notes) {
  const std::optional<std::string> text = ReadFile(file);
  if (!text) throw ConfigError(file.string() + ": there is no such file");
  Problems problems(file.string());
  const std::optional<CsvTable> table = ParseCsv(*text, 0, problems);
  if (!table) throw ConfigErrors(problems.Lines());
  for (const CsvCell& title : table->titles) {
    if (space.Find(title.text) != nullptr) continue;
    problems.Add(title.place, "", *space.ProblemWith({{title.text, ParamValue{}}}));
  }
  if (problems.any()) throw ConfigErrors(problems.Lines());
  std::vector<GivenSettings> settings;
  for (const std::vector<CsvCell>& row : table->rows) {
    Params params;
    const int line = row.front().place.line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string& name = table->titles[i].text;
      if (row[i].text.empty()) continue;
      params[name] = ValueOf(row[i].text, space.Find(name)->domain);
    }
    settings.push_back({std::move(params), fmt::format("{}:{}", file.string(), line)});
  }
  for (const Place& place : table->empty_rows) {
    notes->push_back(
        fmt::format("{}:{}: every cell is empty: no trial of it is added; --params "
                    "'{{}}' adds one that is drawn",
                    file.string(),
                    place.line));
  }
  if (settings.empty()) throw ConfigError(file.string() + ": the table has no row");
  return settings;
}

}  // namespace hyperopt::internal

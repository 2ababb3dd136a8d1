// search_alg {type: list}: a table of settings, one trial a row.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "search/internal/config/readers.h"
#include "search/internal/config/scalar.h"
#include "search/internal/config/text_check.h"
#include "search/internal/csv.h"
#include "search/internal/yaml.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

Value* Find(Value* map, std::string_view key) {
  if (map == nullptr || !map->is_map()) return nullptr;
  const auto found = std::ranges::find(map->entries, key, &Entry::key);
  return found == map->entries.end() ? nullptr : &found->value;
}

Value MapAt(const Place& place) {
  Value map;
  map.kind = Value::Kind::kMap;
  map.place = place;
  return map;
}

Value Text(std::string text, const Place& place) {
  Value value;
  value.kind = Value::Kind::kString;
  value.text = std::move(text);
  value.place = place;
  return value;
}

// The cell as YAML reads a plain scalar: 1e-3, true, adam.
Value CellValue(const CsvCell& cell) {
  Value value = Text(cell.text, cell.place);
  if (ResolvePlain(value) || value.is_null()) return Text(cell.text, cell.place);
  return value;
}

void Add(Value& map, std::string key, Value value) {
  map.entries.push_back({std::move(key), value.place, std::move(value)});
}

// `choice` among the values of a column, each once.
void AddCategories(Value& space, const std::vector<Value>& values) {
  Value list;
  list.kind = Value::Kind::kList;
  list.place = space.place;
  for (const Value& value : values) {
    const bool known = std::ranges::any_of(list.items, [&value](const Value& other) {
      return ToParamValue(other) == ToParamValue(value);
    });
    if (!known) list.items.push_back(value);
  }
  Add(space, "space", Text("choice", space.place));
  Add(space, "categories", std::move(list));
}

// The smallest space that holds a column: a range of numbers, else the values seen.
void InferSpace(Value& space, std::vector<Value> values) {
  const auto all = [&values](auto&& is) { return std::ranges::all_of(values, is); };
  const bool numbers = all([](const Value& v) { return AsNumber(v).has_value(); });
  const bool integers = all([](const Value& v) { return v.kind == Value::Kind::kInt; });
  const auto same_kind = [&values](const Value& v) { return v.kind == values[0].kind; };
  if (numbers) {
    const auto [low, high] = std::ranges::minmax_element(values, {}, &Value::number);
    if (low->number < high->number) {
      Add(space, "space", Text(integers ? "int" : "float", space.place));
      Add(space, "lower", *low);
      Add(space, "upper", *high);
      return;
    }
    values = {*low};
  } else if (!all(same_kind)) {
    for (Value& value : values) value = Text(value.text, value.place);
  }
  AddCategories(space, values);
}

// The file's table as `rows`; nullopt where it was told what is wrong.
std::optional<CsvTable> ReadTable(const Value& file, Reading& reading) {
  if (!file.is_string() || file.text.empty()) {
    if (!file.is_broken()) {
      reading.problems.Add(
          file.place,
          "hyperopt.search_alg.file",
          fmt::format("must be the path of a CSV table, not {}", Describe(file)));
    }
    return std::nullopt;
  }
  const auto path = (reading.folder / file.text).lexically_normal();
  if (!std::filesystem::exists(path)) {
    reading.problems.Add(
        file.place,
        "hyperopt.search_alg.file",
        fmt::format("there is no file {} (a relative path is taken from the folder of "
                    "the search file)",
                    path.string()));
    return std::nullopt;
  }
  const auto text = ReadInput(path, reading);
  if (!text) return std::nullopt;
  const int source = reading.problems.AddFile(path.string());
  if (const auto fault = FaultOfText(*text)) {
    reading.problems.Add({source, fault->line, fault->column}, "", fault->text);
    return std::nullopt;
  }
  auto table = ParseCsv(*text, source, reading.problems);
  if (table && table->rows.empty()) {
    reading.problems.Add({source, 0, 0}, "", "the table has titles and no rows");
    return std::nullopt;
  }
  return table;
}

// Gives column `index` a parameter where the file declares none, and a space where it
// declares none.
void SettleColumn(const CsvTable& table,
                  size_t index,
                  bool declared,
                  Value& parameters,
                  Reading& reading) {
  const CsvCell& title = table.titles[index];
  Value* parameter = Find(&parameters, title.text);
  if (parameter == nullptr && declared) {
    std::vector<std::string> known;
    for (const Entry& entry : parameters.entries) known.push_back(entry.key);
    const auto near = NearestName(title.text, known);
    reading.problems.Add(
        title.place,
        "",
        fmt::format("the column {} is no parameter{}; declare it under "
                    "hyperopt.parameters ({}: {{}} takes its type from the column), or "
                    "take it out",
                    title.text,
                    near ? fmt::format(" (did you mean {}?)", *near) : "",
                    title.text));
    return;
  }
  if (parameter == nullptr) {
    Add(parameters, title.text, MapAt(title.place));
    parameter = &parameters.entries.back().value;
  }
  if (parameter->is_null()) *parameter = MapAt(parameter->place);
  if (!parameter->is_map() || Find(parameter, "space") != nullptr) return;
  std::vector<Value> values;
  bool said_gap = false;
  for (const auto& row : table.rows) {
    if (!row[index].text.empty()) {
      values.push_back(CellValue(row[index]));
    } else if (!std::exchange(said_gap, true)) {
      reading.problems.Add(
          row[index].place,
          "",
          fmt::format("{} has no value here, and no space under hyperopt.parameters to "
                      "draw one from",
                      title.text));
    }
  }
  // A space all the same, so that the gap is all that is said of the column.
  if (values.empty()) values.push_back(Text("none", title.place));
  InferSpace(*parameter, std::move(values));
}

// A cell means what its parameter's space makes of it: the category "1", a list.
std::optional<ParamValue> ValueIn(const Domain& domain,
                                  const Value& value,
                                  Problems& scratch) {
  std::vector<Value> readings = {value};
  if (value.is_scalar()) readings.push_back(Text(value.text, value.place));
  if (value.is_string() && value.text.find_first_of("[{") == 0) {
    if (auto parsed = ParseYaml(value.text, 0, scratch)) {
      readings.push_back(*std::move(parsed));
    }
  }
  for (const Value& each : readings) {
    const auto as_value = ToParamValue(each);
    if (as_value && ToUnit(domain, *as_value)) return Typed(domain, *as_value);
  }
  return std::nullopt;
}

void ReadRow(const Value& row, const std::string& path, Reading& reading) {
  Params params;
  Problems scratch("");
  for (const Entry& entry : row.entries) {
    const Parameter* parameter = reading.config.space.Find(entry.key);
    if (parameter == nullptr) {
      reading.problems.Add(
          entry.place, fmt::format("{}.{}", path, entry.key), "no such parameter");
      continue;
    }
    auto value = ValueIn(parameter->domain, entry.value, scratch);
    if (value) {
      params[entry.key] = *std::move(value);
      continue;
    }
    reading.problems.Add(entry.value.place,
                         entry.key,
                         fmt::format("{} is not in its space ({})",
                                     Describe(entry.value),
                                     Describe(parameter->domain)));
  }
  reading.config.sampler.rows.push_back(std::move(params));
}

// A value that no row says is drawn, which a forgotten column would hide.
void NoteGaps(Reading& reading) {
  const auto& rows = reading.config.sampler.rows;
  for (const Parameter& parameter : reading.config.space.parameters()) {
    const auto gaps = std::ranges::count_if(
        rows, [&](const Params& row) { return !row.contains(parameter.name); });
    if (gaps == 0) continue;
    reading.problems.Note(
        fmt::format("{} of {} rows have no value for {}: it is drawn from {}",
                    gaps,
                    rows.size(),
                    parameter.name,
                    Describe(parameter.domain)));
  }
}

}  // namespace

void ReadListFile(Value& root, Reading& reading) {
  Value* hyperopt = Find(&root, "hyperopt");
  Value* alg = Find(hyperopt, "search_alg");
  const Value* type = Find(alg, "type");
  const Value* file = Find(alg, "file");
  if (type == nullptr || type->text != "list" || file == nullptr) return;
  const Place place = file->place;
  if (Find(alg, "rows") != nullptr) {
    reading.problems.Add(place,
                         "hyperopt.search_alg.file",
                         "stands beside `rows`, and the trials come from one of them: "
                         "take the other out");
    std::erase_if(alg->entries, [](const Entry& entry) { return entry.key == "file"; });
    return;
  }
  const auto table = ReadTable(*file, reading);
  std::erase_if(alg->entries, [](const Entry& entry) { return entry.key == "file"; });
  Value rows;
  rows.kind = Value::Kind::kList;
  rows.place = place;
  if (!table) {
    rows.kind = Value::Kind::kBroken;
    Add(*alg, "rows", std::move(rows));
    return;
  }
  for (const auto& row : table->rows) {
    Value settings = MapAt(row.front().place);
    for (size_t i = 0; i < row.size(); ++i) {
      if (!row[i].text.empty()) Add(settings, table->titles[i].text, CellValue(row[i]));
    }
    rows.items.push_back(std::move(settings));
  }
  Add(*alg, "rows", std::move(rows));
  // Last: it may move what the pointers above lead to.
  if (Find(hyperopt, "parameters") == nullptr) Add(*hyperopt, "parameters", Value());
  Value* parameters = Find(hyperopt, "parameters");
  if (parameters->is_null()) *parameters = MapAt(place);
  if (!parameters->is_map()) return;
  const bool declared = !parameters->entries.empty();
  for (size_t i = 0; i < table->titles.size(); ++i) {
    SettleColumn(*table, i, declared, *parameters, reading);
  }
}

void ReadList(Section& alg, Reading& reading) {
  SearchConfig& config = reading.config;
  const Value* rows = alg.Take("rows");
  if (rows == nullptr) {
    if (!alg.Has("rows") && alg.value().Find("rows") == nullptr) {
      alg.Fail("file", "is missing: the CSV table whose rows are the trials");
    }
    return;
  }
  if (!rows->is_list() || rows->items.empty()) {
    alg.Fail("rows", "must be a list of at least one map of parameters to values");
    return;
  }
  if (config.space.size() == 0) return;
  for (size_t i = 0; i < rows->items.size(); ++i) {
    const std::string path = fmt::format("{}.{}", alg.PathOf("rows"), i);
    if (rows->items[i].is_map()) {
      ReadRow(rows->items[i], path, reading);
    } else {
      reading.problems.Add(
          rows->items[i].place, path, "must be a map of parameters to values");
    }
  }
  const auto count = std::ssize(config.sampler.rows);
  const Value* executor = reading.root.Find("hyperopt")->Find("executor");
  const Value* given = executor == nullptr ? nullptr : executor->Find("num_samples");
  int64_t& samples = config.executor.num_samples;
  if (given == nullptr || given->is_null()) samples = count;
  if (samples > count) {
    reading.problems.Note(
        fmt::format("hyperopt.executor.num_samples is {}, and the list has {} rows",
                    samples,
                    count));
    samples = count;
  }
  config.sampler.num_samples = samples;
  NoteGaps(reading);
}

}  // namespace hyperopt::internal

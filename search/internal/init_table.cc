#include "search/internal/init_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <vector>

#include "search/internal/init_guess.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

// What a column looks like.
struct Column {
  std::string name;
  std::string type;     // number, category, binary; "" for one that is left out
  std::string comment;  // what was seen
};

// A target of so few whole numbers is taken for classes.
constexpr size_t kMostClasses = 10;

bool IsNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsWhole(const std::string& text) {
  return text.find_first_not_of("+-0123456789") == text.npos;
}

std::string Lower(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

// Words that the trainer takes for true or false by themselves.
bool IsTruth(const std::set<std::string>& values) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kPairs = {
      std::pair{"false", "true"},
      std::pair{"no", "yes"},
      std::pair{"0", "1"},
      std::pair{"f", "t"},
      std::pair{"n", "y"}};
  return values.size() == 2 && std::ranges::any_of(kPairs, [&values](const auto& pair) {
           return Lower(*values.begin()) == pair.first &&
                  Lower(*values.rbegin()) == pair.second;
         });
}

// Of numbers the smallest and the largest, as they are written.
std::string RangeOf(const std::set<std::string>& values) {
  const auto by_value = [](const std::string& a, const std::string& b) {
    return std::stod(a) < std::stod(b);
  };
  const auto [low, high] = std::minmax_element(values.begin(), values.end(), by_value);
  return fmt::format("{} .. {}", *low, *high);
}

Column Look(const CsvTable& table, size_t index, bool is_target) {
  Column column{table.titles[index].text, "", ""};
  std::set<std::string> values;
  size_t missing = 0;
  for (const auto& row : table.rows) {
    if (row[index].text.empty()) {
      ++missing;
    } else {
      values.insert(row[index].text);
    }
  }
  const bool numbers = !values.empty() && std::ranges::all_of(values, IsNumber);
  const bool whole = numbers && std::ranges::all_of(values, IsWhole);
  if (values.size() < 2) {
    column.comment = "left out: always the same";
    return column;
  }
  if (IsTruth(values)) {
    column.type = "binary";
    column.comment = fmt::format("{}, {}", *values.begin(), *values.rbegin());
  } else if (numbers && !(is_target && whole && values.size() <= kMostClasses)) {
    column.type = "number";
    column.comment = RangeOf(values);
  } else if (!is_target && values.size() > 50 &&
             2 * values.size() > table.rows.size()) {
    column.comment = fmt::format(
        "left out: {} different texts in {} rows", values.size(), table.rows.size());
    return column;
  } else {
    column.type = "category";
    column.comment = fmt::format("{} classes", values.size());
  }
  if (missing > 0) column.comment += fmt::format("; {} cells are empty", missing);
  return column;
}

std::string FeatureLine(const Column& column) {
  const bool left_out = column.type.empty();
  return fmt::format("  {}- {{name: {}, type: {}}}  # {}\n",
                     left_out ? "# " : "",
                     YamlText(column.name),
                     left_out ? "category" : column.type,
                     column.comment);
}

size_t IndexOf(const CsvTable& table, const std::string& target) {
  std::vector<std::string> titles;
  for (const CsvCell& title : table.titles) titles.push_back(title.text);
  const auto found = std::ranges::find(titles, target);
  if (found != titles.end()) return static_cast<size_t>(found - titles.begin());
  const auto near = NearestName(target, titles);
  throw ConfigError(fmt::format("the table has no column {}{}; its columns are {}",
                                target,
                                near ? fmt::format(" (did you mean {}?)", *near) : "",
                                fmt::join(titles, ", ")));
}

std::string BatchSizes(size_t rows) {
  std::vector<size_t> sizes;
  for (size_t size = 16; size <= 512 && size * 8 <= std::max<size_t>(rows, 256);
       size *= 2) {
    sizes.push_back(size);
  }
  if (sizes.size() > 4) sizes.erase(sizes.begin(), sizes.end() - 4);
  return fmt::format("{}", fmt::join(sizes, ", "));
}

std::string SearchText(const Column& target, size_t rows) {
  const bool number = target.type == "number";
  return fmt::format(
      R"(
trainer:
  epochs: 30    # of a trial that is not stopped early

hyperopt:
  goal: {}
  output_feature: {}
  metric: {}    # {}
  split: validation
  parameters:
    trainer.learning_rate: {{space: loguniform, lower: 1e-4, upper: 1e-1}}
    trainer.batch_size: {{space: choice, categories: [{}]}}
    combiner.num_fc_layers: {{space: int, lower: 1, upper: 3}}
    combiner.output_size: {{space: choice, categories: [32, 64, 128, 256]}}
    combiner.dropout: {{space: float, lower: 0, upper: 0.5}}
  executor:
    num_samples: 20
    # gpu_resources_per_trial: 0.5    # two trials on each GPU; absent: one
    # Only the best third goes on after each rung of epochs:
    scheduler: {{type: asha, max_t: 30, grace_period: 3, reduction_factor: 3}}
)",
      number ? "minimize" : "maximize",
      YamlText(target.name),
      number ? "root_mean_squared_error" : "accuracy",
      number ? "or mean_absolute_error, mean_squared_error, r2 (maximize)"
             : "or roc_auc, loss (minimize)",
      BatchSizes(rows));
}

}  // namespace

std::string SearchFileForTable(const InitTable& init, const CsvTable& table) {
  const size_t target = IndexOf(table, init.target);
  const Column output = Look(table, target, true);
  if (output.type.empty()) {
    throw ConfigError(fmt::format(
        "the column {} can not be learned: {}", init.target, output.comment));
  }
  std::string text = fmt::format(
      "# From: hyperopt init {}\n"
      "# Types are guessed from the first {} rows: look at each. Then\n"
      "#   hyperopt check {}       says what would run, and runs nothing\n"
      "#   hyperopt --config {}    runs it; Ctrl-C, and the same line goes on\n\n"
      "dataset: {}\n\n"
      "input_features:\n",
      init.typed,
      table.rows.size(),
      init.file,
      init.file,
      YamlText(init.dataset));
  bool any = false;
  for (size_t i = 0; i < table.titles.size(); ++i) {
    if (i == target) continue;
    const Column column = Look(table, i, false);
    any = any || !column.type.empty();
    text += FeatureLine(column);
  }
  if (!any) {
    throw ConfigError("beside the target no column holds anything to learn from");
  }
  text += "output_features:\n" + FeatureLine(output);
  return text + SearchText(output, table.rows.size());
}

}  // namespace hyperopt::internal

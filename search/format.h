// How durations, numbers and tables are shown to people. Nothing here is read back by a
// program: for that there is `export` and `--json`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trial/objective.h"
#include "trial/param_value.h"

namespace hyperopt {

// "0 s", "3.2 ms", "4.2 s", "42 s", "3 m 20 s", "2 h 5 m", "3 d 4 h": two units at
// most, rounded to the smaller one. "-3 m 20 s" for a negative one, "?" for NaN, "for
// ever" for infinity.
std::string DurationText(double seconds);

// Four significant digits without zeros that say nothing: "0.4127", "12.5", "123457",
// "1.5e-05", "3e+20", "NaN", "inf", "-inf". Digits before the point are never dropped
// below a million.
std::string NumberText(double number);
// The same; "-" where it is missing.
std::string NumberText(const Objective& objective);
// A parameter's value: a double as NumberText has it, another as a command gets it.
std::string ValueText(const ParamValue& value);

// Columns of a terminal that UTF-8 text takes: East Asian wide characters and emoji
// take two, combining marks none; a byte that is no UTF-8 takes one. Control characters
// take one, as Printable shows them.
size_t DisplayWidth(std::string_view text);

// The text on one line and without control characters (tab and line ends become a
// blank, others and broken UTF-8 U+FFFD): a trial's words must not steer the terminal.
std::string Printable(std::string_view text);

// The text where it fits `width`, else its beginning and '…'; never half a character.
std::string Shortened(std::string_view text, size_t width);

// A dotted name where it fits, else what tells it apart, its end: "…learning_rate" of
// "trainer.learning_rate"; where not even that fits, the last part's beginning.
std::string ShortenedName(std::string_view name, size_t width);

// The text with line ends instead of blanks, so that no line is wider than `width`;
// those after the first begin with `indent` blanks. A word that is wider stays whole.
std::string Wrapped(std::string_view text, size_t width, size_t indent);

// A plain table: a line of titles, then a line a row, columns apart by two blanks.
//   trial  state      loss    learning_rate
//       0  completed  0.4127        0.00103
class Table {
 public:
  enum class Align { kLeft, kRight };
  // What a column does where the table is too wide.
  enum class Yield {
    kUsual,  // the first and the last column stay, those between give way
    kFirst,  // cut before any other, to twelve columns of the terminal
    kLast,   // its cells stay whole as long as there is another way
  };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    Yield yield = Yield::kUsual;
  };

  // REQUIRES: at least one column.
  explicit Table(std::vector<Column> columns);

  // REQUIRES: one cell a column. Cells are made Printable.
  void AddRow(std::vector<std::string> cells);

  // No line is wider than `width` (at least 8). What does not fit: columns of kFirst
  // are cut; then titles, as names are, down to their cells and eight columns of the
  // terminal; then the widest of the middle columns, down to ten; then middle columns
  // are left out from the right, with one column of '…' in their place; last all are
  // shortened. Ends with a line end; no line ends with a blank.
  std::string ToText(size_t width = 80) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hyperopt

#include "search/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace hyperopt {
namespace {

// ---- UTF-8 ----

constexpr char32_t kReplacement = 0xFFFD;
constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "…";

struct Character {
  char32_t code = 0;
  size_t bytes = 1;
  bool valid = true;
};

// The first character of a text that is not empty. What is no UTF-8 (overlong forms and
// surrogates too) is one byte of replacement.
Character Decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const Character broken{kReplacement, 1, false};
  if (byte(0) < 0x80) return {byte(0), 1, true};
  const size_t bytes = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < bytes) return broken;
  char32_t code = byte(0) & (0x7F >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return broken;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || surrogate || code > 0x10FFFF) return broken;
  return {code, bytes, true};
}

struct Range {
  char32_t first;
  char32_t last;
};

template <size_t n>
bool IsIn(const std::array<Range, n>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const Range& range) {
    return code >= range.first && code <= range.last;
  });
}

// Combining marks of the scripts at hand, joiners, variation selectors (general
// categories Mn, Me and Cf of the Unicode data base, in coarse ranges).
constexpr std::array<Range, 14> kNoWidth = {{{0x0300, 0x036F},
                                             {0x0483, 0x0489},
                                             {0x0591, 0x05BD},
                                             {0x0610, 0x061A},
                                             {0x064B, 0x065F},
                                             {0x0E34, 0x0E3A},
                                             {0x1AB0, 0x1AFF},
                                             {0x1DC0, 0x1DFF},
                                             {0x200B, 0x200F},
                                             {0x202A, 0x202E},
                                             {0x2060, 0x2069},
                                             {0x20D0, 0x20FF},
                                             {0xFE00, 0xFE0F},
                                             {0xFE20, 0xFE2F}}};

// East Asian Width W and F (UAX #11), in coarse ranges, and emoji.
constexpr std::array<Range, 11> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0x33FF},
                                          {0x3400, 0x4DBF},
                                          {0x4E00, 0xA4CF},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0x1F300, 0x1FAFF},
                                          {0x20000, 0x3FFFD}}};

size_t WidthOf(char32_t code) {
  if (code < 0x300) return 1;
  if (IsIn(kNoWidth, code)) return 0;
  return IsIn(kWide, code) ? 2 : 1;
}

// Bidirectional overrides reorder what stands around them.
bool IsControl(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
         code == 0x2028 || code == 0x2029;
}

// ---- durations ----

// "3 m 20 s", without a second part that is 0.
std::string TwoUnits(int64_t count,
                     int64_t factor,
                     const char* big,
                     const char* small) {
  const int64_t rest = count % factor;
  if (rest == 0) return fmt::format("{} {}", count / factor, big);
  return fmt::format("{} {} {} {}", count / factor, big, rest, small);
}

std::string PositiveDuration(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds < 0.00995) return fmt::format("{:.2g} ms", seconds * 1e3);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (seconds < 59.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3599.5) return TwoUnits(std::llround(seconds), 60, "m", "s");
  if (seconds < 86400 - 30) return TwoUnits(std::llround(seconds / 60), 60, "h", "m");
  if (seconds > 1e15) return fmt::format("{:.2g} d", seconds / 86400);
  return TwoUnits(std::llround(seconds / 3600), 24, "d", "h");
}

// ---- tables ----

constexpr size_t kGap = 2;
constexpr size_t kLeastTitle = 8;
// Of a cell: "-4.255e-05" without its end would be another number.
constexpr size_t kLeastMiddle = 10;
constexpr size_t kLeastFirst = 12;  // the same where the column yields first

std::string Padded(const std::string& text, size_t width, Table::Align align) {
  const std::string blanks(width - DisplayWidth(text), ' ');
  return align == Table::Align::kLeft ? text + blanks : blanks + text;
}

// Which columns are shown, how wide, and where the '…' stands for those left out.
struct Layout {
  std::vector<size_t> widths;
  std::vector<size_t> cells;  // the widest cell, without the title
  std::vector<Table::Yield> yields;
  std::vector<bool> shown;
  bool gap_column = false;

  size_t Total() const {
    size_t total = 0;
    size_t columns = 0;
    for (size_t i = 0; i < widths.size(); ++i) {
      if (!shown[i]) continue;
      total += widths[i];
      ++columns;
    }
    if (gap_column) ++total, ++columns;
    return total + (columns - 1) * kGap;
  }
  size_t Excess(size_t width) const { return Total() > width ? Total() - width : 0; }
  bool IsMiddle(size_t column) const {
    return column > 0 && column + 1 < widths.size() &&
           yields[column] == Table::Yield::kUsual;
  }
  bool IsFirst(size_t column) const { return yields[column] == Table::Yield::kFirst; }
};

// Takes the excess from the widest columns, evenly, none below what `least` says.
template <typename Least>
void Shrink(Layout* layout, size_t width, Least least) {
  while (layout->Excess(width) > 0) {
    size_t widest = 0;
    size_t chosen = layout->widths.size();
    for (size_t i = 0; i < layout->widths.size(); ++i) {
      const size_t now = layout->widths[i];
      if (!layout->shown[i] || now <= widest || now <= least(i)) continue;
      widest = now;
      chosen = i;
    }
    if (chosen == layout->widths.size()) return;
    --layout->widths[chosen];
  }
}

void LeaveOutMiddle(Layout* layout, size_t width) {
  for (size_t i = layout->widths.size(); i-- > 0 && layout->Excess(width) > 0;) {
    if (!layout->IsMiddle(i)) continue;
    layout->shown[i] = false;
    layout->gap_column = true;
  }
}

void Fit(Layout* layout, size_t width) {
  constexpr size_t kWhole = std::numeric_limits<size_t>::max();
  Shrink(layout, width, [layout](size_t i) {
    return layout->IsFirst(i) ? kLeastFirst : kWhole;
  });
  Shrink(layout, width, [layout](size_t i) {
    return layout->IsFirst(i) ? kWhole : std::max(layout->cells[i], kLeastTitle);
  });
  Shrink(layout, width, [layout](size_t i) {
    return layout->IsMiddle(i) ? kLeastMiddle : kWhole;
  });
  LeaveOutMiddle(layout, width);
  Shrink(layout, width, [](size_t) { return size_t{1}; });
}

}  // namespace

std::string DurationText(double seconds) {
  if (std::isnan(seconds)) return "?";
  const std::string text =
      std::isinf(seconds) ? "for ever" : PositiveDuration(std::abs(seconds));
  return seconds < 0 ? "-" + text : text;
}

std::string NumberText(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  if (number == 0) return "0";
  const double size = std::abs(number);
  if (size >= 999.95 && size < 999'999.5) return fmt::format("{:.0f}", number);
  return fmt::format("{:.4g}", number);
}

std::string NumberText(const Objective& objective) {
  return objective.missing() ? "-" : NumberText(objective.AsDouble());
}

std::string ValueText(const ParamValue& value) {
  const double* number = std::get_if<double>(&value);
  return number == nullptr ? ToWord(value) : NumberText(*number);
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Character character = Decode(text);
    width += WidthOf(character.code);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const Character character = Decode(text);
    const bool blank = text[0] == '\t' || text[0] == '\n' || text[0] == '\r';
    if (blank) {
      printable += ' ';
    } else if (!character.valid || IsControl(character.code)) {
      printable += kReplacementUtf8;
    } else {
      printable += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return printable;
}

std::string Shortened(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return "";
  size_t bytes = 0;
  size_t taken = 0;
  while (bytes < text.size()) {
    const Character character = Decode(text.substr(bytes));
    taken += WidthOf(character.code);
    if (taken > width - 1) break;
    bytes += character.bytes;
  }
  while (bytes > 0 && text[bytes - 1] == ' ') --bytes;
  return std::string(text.substr(0, bytes)) + std::string(kEllipsis);
}

std::string ShortenedName(std::string_view name, size_t width) {
  if (width == 0 || DisplayWidth(name) <= width) return Shortened(name, width);
  std::string_view part = name;
  for (size_t dot; (dot = part.find('.')) != part.npos;) {
    part.remove_prefix(dot + 1);
    if (DisplayWidth(part) < width) return std::string(kEllipsis) + std::string(part);
  }
  return Shortened(part.empty() ? name : part, width);
}

std::string Wrapped(std::string_view text, size_t width, size_t indent) {
  std::string wrapped;
  size_t column = 0;
  bool empty = true;  // no word on the line yet
  while (!text.empty()) {
    const size_t gap = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(gap);
    const std::string_view word = text.substr(0, text.find(' '));
    if (word.empty()) break;
    const size_t wide = DisplayWidth(word);
    const bool breaks = !empty && column + gap + wide > width;
    wrapped += breaks ? '\n' + std::string(indent, ' ') : std::string(gap, ' ');
    column = (breaks ? indent : column + gap) + wide;
    wrapped += word;
    text.remove_prefix(word.size());
    empty = false;
  }
  return wrapped;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  assert(!columns_.empty());
  for (Column& column : columns_) column.title = Printable(column.title);
}

void Table::AddRow(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::ToText(size_t width) const {
  Layout layout;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = 0;
    for (const auto& row : rows_) widest = std::max(widest, DisplayWidth(row[i]));
    layout.cells.push_back(widest);
    layout.widths.push_back(std::max(widest, DisplayWidth(columns_[i].title)));
    layout.yields.push_back(columns_[i].yield);
    layout.shown.push_back(true);
  }
  Fit(&layout, std::max<size_t>(width, 8));

  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    bool gap_done = false;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!layout.shown[i]) {
        if (!gap_done) line += std::string(kEllipsis) + std::string(kGap, ' ');
        gap_done = true;
        continue;
      }
      const std::string cell = cell_of(i, layout.widths[i]);
      line += Padded(cell, layout.widths[i], columns_[i].align);
      line += std::string(kGap, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  };
  add_line([&](size_t i, size_t columns) {
    return ShortenedName(columns_[i].title, columns);
  });
  for (const auto& row : rows_) {
    add_line([&](size_t i, size_t columns) { return Shortened(row[i], columns); });
  }
  return text;
}

}  // namespace hyperopt

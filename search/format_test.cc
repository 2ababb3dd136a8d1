#include "search/format.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "trial/rng.h"

namespace hyperopt {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_SUITE_BEGIN("format");

TEST_CASE("durations have two units at most") {
  CHECK(DurationText(0) == "0 s");
  CHECK(DurationText(0.0032) == "3.2 ms");
  CHECK(DurationText(0.0099) == "9.9 ms");
  CHECK(DurationText(0.00996) == "10 ms");
  CHECK(DurationText(0.45) == "450 ms");
  CHECK(DurationText(4.2) == "4.2 s");
  CHECK(DurationText(42.3) == "42 s");
  CHECK(DurationText(200) == "3 m 20 s");
  CHECK(DurationText(180) == "3 m");
  CHECK(DurationText(7500) == "2 h 5 m");
  CHECK(DurationText(3 * 86400 + 4 * 3600) == "3 d 4 h");
  CHECK(DurationText(-200) == "-3 m 20 s");
  CHECK(DurationText(std::nan("")) == "?");
  CHECK(DurationText(kInf) == "for ever");
}

TEST_CASE("a duration is rounded before its units are chosen") {
  CHECK(DurationText(0.9996) == "1.0 s");
  CHECK(DurationText(9.96) == "10 s");
  CHECK(DurationText(59.6) == "1 m");
  CHECK(DurationText(3599.4) == "59 m 59 s");
  CHECK(DurationText(3599.6) == "1 h");
  CHECK(DurationText(86399) == "1 d");
  CHECK(DurationText(1e300).size() < 20);
}

TEST_CASE("numbers have four significant digits") {
  CHECK(NumberText(0.412749) == "0.4127");
  CHECK(NumberText(12.5) == "12.5");
  CHECK(NumberText(3) == "3");
  CHECK(NumberText(0.0) == "0");
  CHECK(NumberText(-0.0) == "0");
  CHECK(NumberText(1.5e-5) == "1.5e-05");
  CHECK(NumberText(0.00103) == "0.00103");
  CHECK(NumberText(999.96) == "1000");
  CHECK(NumberText(123456.7) == "123457");
  CHECK(NumberText(-2048) == "-2048");
  CHECK(NumberText(999999.7) == "1e+06");
  CHECK(NumberText(3e20) == "3e+20");
  CHECK(NumberText(std::nan("")) == "NaN");
  CHECK(NumberText(-kInf) == "-inf");
  CHECK(NumberText(Objective::Missing()) == "-");
  CHECK(NumberText(Objective::Of(kInf)) == "inf");
  CHECK(NumberText(Objective::Of(0.25)) == "0.25");
}

TEST_CASE("the width is that on the terminal") {
  CHECK(DisplayWidth("") == 0);
  CHECK(DisplayWidth("loss") == 4);
  CHECK(DisplayWidth("größe") == 5);
  CHECK(DisplayWidth("e\u0301") == 1);
  CHECK(DisplayWidth("学習率") == 6);
  CHECK(DisplayWidth("🚀") == 2);
  CHECK(DisplayWidth("…") == 1);
  CHECK(DisplayWidth("\xFF\xC3") == 2);
}

TEST_CASE("a trial's words do not steer the terminal") {
  const std::string replaced = "\uFFFD";
  CHECK(Printable("a\nb\tc\r") == "a b c ");
  CHECK(Printable("\x1b[31mred") == replaced + "[31mred");
  CHECK(Printable("a\u009b31m") == "a" + replaced + "31m");
  CHECK(Printable("a\u202eb") == "a" + replaced + "b");
  CHECK(Printable("\xC3(") == replaced + "(");
  CHECK(Printable("\xC0\x80") == replaced + replaced);  // an overlong NUL
  CHECK(Printable("\xED\xA0\x80") == replaced + replaced + replaced);
  CHECK(Printable("größe 学") == "größe 学");
}

TEST_CASE("a text is cut between characters") {
  CHECK(Shortened("learning_rate", 13) == "learning_rate");
  CHECK(Shortened("learning_rate", 6) == "learn…");
  CHECK(Shortened("größe", 4) == "grö…");
  CHECK(Shortened("学習率", 4) == "学…");
  CHECK(Shortened("学習率", 2) == "…");
  CHECK(Shortened("ab", 1) == "…");
  CHECK(Shortened("ab", 0) == "");
}

TEST_CASE("a dotted name keeps what tells it apart") {
  CHECK(ShortenedName("trainer.learning_rate", 21) == "trainer.learning_rate");
  CHECK(ShortenedName("trainer.learning_rate", 20) == "…learning_rate");
  CHECK(ShortenedName("a.trainer.type", 13) == "…trainer.type");
  CHECK(ShortenedName("a.trainer.type", 12) == "…type");
  CHECK(ShortenedName("trainer.learning_rate", 8) == "learnin…");
  CHECK(ShortenedName("learning_rate", 6) == "learn…");
  CHECK(ShortenedName("a.", 1) == "…");
  CHECK(ShortenedName("a.b", 0) == "");
}

TEST_CASE("lines are broken at blanks, words stay whole") {
  CHECK(Wrapped("a bc  def", 9, 2) == "a bc  def");
  CHECK(Wrapped("a bc  def", 8, 2) == "a bc\n  def");
  CHECK(Wrapped("  | one two", 7, 4) == "  | one\n    two");
  CHECK(Wrapped("a /a/long/path b", 5, 1) == "a\n /a/long/path\n b");
  CHECK(Wrapped("学習 率", 6, 0) == "学習\n率");
  CHECK(Wrapped("", 5, 1) == "");
}

TEST_CASE("a value is shown to four digits, a text as it is") {
  CHECK(ValueText(0.00023664488620081532) == "0.0002366");
  CHECK(ValueText(int64_t{1234567}) == "1234567");
  CHECK(ValueText(std::string("1.23456789")) == "1.23456789");
  CHECK(ValueText(true) == "true");
}

TEST_CASE("a long why is cut before trial, state and metric") {
  constexpr auto kRight = Table::Align::kRight;
  constexpr auto kLast = Table::Yield::kLast;
  Table table({{"trial", kRight, kLast},
               {"state", Table::Align::kLeft, kLast},
               {"loss", kRight, kLast},
               {"trainer.learning_rate", kRight},
               {"trainer.dropout", kRight},
               {"why", Table::Align::kLeft, Table::Yield::kFirst}});
  table.AddRow({"0", "completed", "0.1111", "0.0002366", "0.4", "at max_t"});
  table.AddRow({"4", "failed", "-", "0.01", "0.5", std::string(300, 'x')});
  CHECK(table.ToText(79) ==
        "trial  state        loss  trainer.learning_rate  trainer.dropout  why\n"
        "    0  completed  0.1111              0.0002366              0.4  at max_t\n"
        "    4  failed          -                   0.01              0.5  "
        "xxxxxxxxxxxx…\n");
  CHECK(table.ToText(70) ==
        "trial  state        loss  …learning_rate        …dropout  why\n"
        "    0  completed  0.1111       0.0002366             0.4  at max_t\n"
        "    4  failed          -            0.01             0.5  xxxxxxxxxxx…\n");
  CHECK(table.ToText(60) ==
        "trial  state        loss  learning…   …dropout  why\n"
        "    0  completed  0.1111  0.0002366        0.4  at max_t\n"
        "    4  failed          -       0.01        0.5  xxxxxxxxxxx…\n");
  // Where it fits, nothing is cut.
  CHECK(table.ToText(1000).find(std::string(300, 'x')) != std::string::npos);
}

TEST_CASE("a table that fits") {
  Table table({{"trial", Table::Align::kRight}, {"state"}, {"loss"}});
  table.AddRow({"0", "completed", "0.4127"});
  table.AddRow({"11", "größer", ""});
  CHECK(table.ToText() ==
        "trial  state      loss\n"
        "    0  completed  0.4127\n"
        "   11  größer\n");
}

TEST_CASE("the widest middle column is shortened first") {
  Table table({{"trial"}, {"state"}, {"why"}, {"loss"}});
  table.AddRow({"0", "failed", "exit code 3: no such file or directory", "0.4127"});
  CHECK(table.ToText(40) ==
        "trial  state   why                loss\n"
        "0      failed  exit code 3: no…   0.4127\n");
}

TEST_CASE("then middle columns are left out") {
  Table table({{"trial"}, {"alpha_one"}, {"alpha_two"}, {"alpha_three"}, {"loss"}});
  table.AddRow({"0", "111111111", "222222222", "33333333333", "0.4127"});
  CHECK(table.ToText(30) ==
        "trial  alpha_one  …  loss\n"
        "0      111111111  …  0.4127\n");
  CHECK(table.ToText(16) ==
        "trial  …  loss\n"
        "0      …  0.4127\n");
}

TEST_CASE("no line is wider than asked for, whatever stands in the table") {
  Rng rng(5, TrialId(0), "tables");
  const std::vector<std::string> pieces{
      "a", "loss", "学習", "e\u0301", "\xFF", "\n", "0.1234", "a_long_name_of_a_thing"};
  for (int round = 0; round < 500; ++round) {
    std::vector<Table::Column> columns(1 + rng.Below(12));
    const auto draw = [&] {
      std::string text;
      for (uint64_t n = rng.Below(5); n > 0; --n)
        text += pieces[rng.Below(pieces.size())];
      return text;
    };
    for (Table::Column& column : columns) {
      column = {draw(), rng.Below(2) == 0 ? Table::Align::kLeft : Table::Align::kRight};
    }
    Table table(columns);
    const uint64_t rows = rng.Below(4);
    for (uint64_t row = 0; row < rows; ++row) {
      std::vector<std::string> cells;
      for (size_t i = 0; i < columns.size(); ++i) cells.push_back(draw());
      table.AddRow(cells);
    }
    const size_t width = 8 + rng.Below(90);
    const std::string text = table.ToText(width);
    size_t lines = 0;
    for (size_t at = 0; at < text.size(); ++lines) {
      const size_t end = text.find('\n', at);
      REQUIRE(end != std::string::npos);
      CHECK(DisplayWidth(text.substr(at, end - at)) <= width);
      CHECK((end == at || text[end - 1] != ' '));
      at = end + 1;
    }
    CHECK(lines == rows + 1);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

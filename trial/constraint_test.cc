#include "trial/constraint.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "trial/errors.h"

namespace hyperopt {
namespace {

const Params kParams = {{"a", int64_t{3}},
                        {"b", 2.5},
                        {"big", int64_t{9007199254740993}},
                        {"amp", true},
                        {"none", std::monostate()},
                        {"optimizer", std::string("sgd")},
                        {"trainer.batch_size", int64_t{64}},
                        {"odd name", int64_t{1}}};

bool Holds(const std::string& text) { return Constraint(text).Holds(kParams); }

std::string Problem(const std::string& text) {
  try {
    Constraint parsed(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("relations, arithmetic and what binds tighter") {
  for (const char* text : {"a == 3",
                           "a == 3.0",
                           "a != 4",
                           "a * b <= 7.5",
                           "1 + 2 * a == 7",
                           "(1 + 2) * a == 9",
                           "-a ** 2 == -9",
                           "2 ** -1 == 0.5 and a == 3",
                           "2 ** 3 ** 2 == 512 and a == 3",
                           "7 // 2 == 3 and -7 // 2 == -4 and a == 3",
                           "a % 2 == 1 and -a % 2 == 1",
                           "a / 2 == 1.5",
                           "10 - a - 2 == 5",
                           "1 < b < a < 4",
                           "trainer.batch_size / 32 == 2",
                           "${odd name} == 1",
                           "min(a, b) == 2.5 and max(a, 7, b) == 7",
                           "log2(8) == a and abs(-a) == 3 and floor(b) == 2",
                           "big == 9007199254740993",
                           "big - 1 < big"}) {
    CAPTURE(text);
    CHECK(Holds(text));
  }
  CHECK_FALSE(Holds("big == 9007199254740992"));
  CHECK_FALSE(Holds("1 < b < 2"));
}

TEST_CASE("texts, truth and lists") {
  for (const char* text : {"optimizer == 'sgd'",
                           "optimizer == \"sgd\"",
                           "optimizer != 'adam'",
                           "optimizer in ['adam', 'sgd']",
                           "optimizer not in ['adam']",
                           "a in [1, 2, 3.0]",
                           "amp",
                           "amp == true",
                           "not (amp and a > 3)",
                           "none == null",
                           "amp or optimizer > 3",
                           "not amp or a == 3"}) {
    CAPTURE(text);
    CHECK(Holds(text));
  }
  CHECK_FALSE(Holds("optimizer == 'adam' and amp"));
  CHECK_FALSE(Holds("amp == 1"));
  CHECK_FALSE(Holds("optimizer == 3"));
}

TEST_CASE("what can not be told does not hold, and its opposite neither") {
  for (const char* text : {"optimizer < 3",
                           "not optimizer < 3",
                           "a + optimizer > 0",
                           "a / 0 * 0 == 0",
                           "log(0 - a) < 1",
                           "log(0 - a) >= 1",
                           "min(a, optimizer) == 3",
                           "a",
                           "not a",
                           "a % 0 == 0"}) {
    CAPTURE(text);
    CHECK_FALSE(Holds(text));
  }
}

TEST_CASE("a parameter that takes no part makes it hold") {
  CHECK(Holds("momentum > 3"));
  CHECK(Holds("a == 4 and momentum > 3"));
}

TEST_CASE("integers that overflow go on as doubles") {
  CHECK(Holds("big * big > 8e31"));
  CHECK(Holds("2 ** 100 > 1e30 and a == 3"));
  CHECK(Holds("(-1) ** 1000000000000 == 1 and a == 3"));
  CHECK(Holds("(-9223372036854775807 - 1) // -1 > 9e18 and a == 3"));
}

TEST_CASE("what is no constraint says where and what to write") {
  CHECK(Problem("a <= ") ==
        "at character 6: a name, a number or ( is missing before the end");
  CHECK(Problem("a = 3") == "at character 3: a single =: write == to compare");
  CHECK(Problem("a < 3 && b < 2") == "at character 7: write `and` for &&");
  CHECK(Problem("a * 2") ==
        "it is a value and no condition: compare it, as in a * 2 <= 100");
  CHECK(Problem("1 < 2") ==
        "it names no parameter, so it says the same of every trial");
  CHECK(Problem("foo(a) < 2") == "at character 1: there is no function foo");
  CHECK(Problem("log(a, 2) < 2") == "at character 1: log takes 1");
  CHECK(Problem("(a < 2") == "at character 7: `)` is missing before the end");
  CHECK(Problem("a < 2)") == "at character 6: `)` is not expected here");
  CHECK(Problem("o == 'sgd") == "at character 6: a text without its closing quote");
  CHECK(Problem("a < 2x") == "at character 5: 2x is no number");
  CHECK(Problem("a in 3") ==
        "at character 6: `in` wants a list, as in: optimizer in ['sgd', 'adam']");
  CHECK(Problem("a # 3").starts_with("at character 3: `#` is no part"));
  CHECK(Problem("a < 1e999").find("no double can hold") != std::string::npos);
  CHECK(Problem(std::string(5000, ' ')).find("at most") != std::string::npos);
  CHECK(Problem(std::string(1000, '(') + "a").ends_with("it is nested too deeply"));
  CHECK(Problem(std::string(1000, '-') + "a < 1").ends_with("it is nested too deeply"));
  CHECK(Problem("") != "");
}

TEST_CASE("the names it has, each once") {
  const Constraint constraint("b < a and ${odd name} == a");
  CHECK(
      std::vector<std::string>(constraint.names().begin(), constraint.names().end()) ==
      std::vector<std::string>{"a", "b", "odd name"});
}

}  // namespace
}  // namespace hyperopt

#include "trial/text.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "trial/errors.h"

namespace hyperopt {
namespace {

using Words = std::vector<std::string>;

const Words kKnown = {
    "max_concurrent_trials", "num_samples", "time_budget_s", "command", "goal", "q"};

std::optional<std::string> Nearest(std::string_view name) {
  return NearestName(name, kKnown);
}

TEST_CASE("text: a near miss finds its name") {
  CHECK(Nearest("comand") == "command");
  CHECK(Nearest("commnad") == "command");  // swapped neighbours are one edit
  CHECK(Nearest("Num-Samples") == "num_samples");
  CHECK(Nearest("max_concurrent") == std::nullopt);  // 7 letters short of 14
  CHECK(Nearest("max_concurent_trial") == "max_concurrent_trials");
  CHECK(Nearest("goals") == "goal");
  CHECK(Nearest("goal") == "goal");
}

TEST_CASE("text: a far miss finds none") {
  CHECK(Nearest("learning_rate") == std::nullopt);
  CHECK(Nearest("xyz") == std::nullopt);
  CHECK(Nearest("x") == std::nullopt);  // one edit from q, and nothing like it
  CHECK(Nearest("") == std::nullopt);
  CHECK(NearestName("a", {}) == std::nullopt);
}

TEST_CASE("text: the nearest wins, the first of equals") {
  CHECK(NearestName("cat", Words{"cart", "cat_", "bat"}) == "cart");
  CHECK(NearestName("lerning_rat", Words{"learning_late", "learning_rate"}) ==
        "learning_rate");
}

TEST_CASE("text: trim") {
  CHECK(Trim(" \t a b \r\n") == "a b");
  CHECK(Trim("").empty());
  CHECK(Trim(" \n ").empty());
  CHECK(Trim("x") == "x");
}

TEST_CASE("text: words as a shell splits them") {
  struct Case {
    const char* text;
    Words words;
  };
  const Case cases[] = {
      {"", {}},
      {"  ", {}},
      {"a", {"a"}},
      {" a  b\tc ", {"a", "b", "c"}},
      {"python3 train.py ${args}", {"python3", "train.py", "${args}"}},
      {"a 'b c' d", {"a", "b c", "d"}},
      {"a \"b c\" d", {"a", "b c", "d"}},
      {"'' \"\"", {"", ""}},
      {"a'b'\"c\"d", {"abcd"}},
      {"'a\\b \"$x\"'", {"a\\b \"$x\""}},
      {R"("a\"b" "a\\b" "a\$b" "a\`b" "a\nb")",
       {"a\"b", "a\\b", "a$b", "a`b", "a\\nb"}},
      {R"(a\ b \\ \' \")", {"a b", "\\", "'", "\""}},
      {"'|>' \";&\" \\<", {"|>", ";&", "<"}},
      {"a=b#c *.py ~ $x", {"a=b#c", "*.py", "~", "$x"}},
      {"train --x 1\n", {"train", "--x", "1"}},  // as YAML's blocks end
      {"a \\\n b", {"a", "b"}},
      {"\"a\\\nb\"", {"ab"}},
      {"grüße 世界", {"grüße", "世界"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(SplitShellWords(c.text) == c.words);
  }
}

std::string Refusal(std::string_view text) {
  try {
    SplitShellWords(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("text: quotes that do not end are refused") {
  for (const char* text : {"a 'b", "a \"b", "\"a\\\"", "a\\", "'"}) {
    CAPTURE(text);
    CHECK(Refusal(text).starts_with("the command "));
  }
}

TEST_CASE("text: what needs a shell is refused with the way out") {
  for (const char* text : {"a | b",
                           "a > log",
                           "a 2>&1",
                           "a < b",
                           "a; b",
                           "a && b",
                           "a & b",
                           "echo `date`",
                           "echo $(date)",
                           "a\nb"}) {
    CAPTURE(text);
    CHECK(Refusal(text).find("[sh, -c,") != std::string::npos);
  }
}

TEST_CASE("a word is quoted only where a shell would make something of it") {
  CHECK(QuoteShellWord("results/a-b_c.2") == "results/a-b_c.2");
  CHECK(QuoteShellWord("größe") == "größe");
  CHECK(QuoteShellWord("out dir/one") == "'out dir/one'");
  CHECK(QuoteShellWord("it's") == "'it'\\''s'");
  CHECK(QuoteShellWord("~/x") == "'~/x'");
  CHECK(QuoteShellWord("$HOME") == "'$HOME'");
  CHECK(QuoteShellWord("") == "''");
}

TEST_CASE("text property: quoted words come back, whatever is in them") {
  CHECK(rc::check([](const Words& words) {
    std::string line;
    for (const std::string& word : words) line += QuoteShellWord(word) + " ";
    RC_ASSERT(SplitShellWords(line) == words);
  }));
}

TEST_CASE("text property: any bytes are split or refused") {
  CHECK(rc::check([](const std::string& text) {
    try {
      for (const std::string& word : SplitShellWords(text)) {
        RC_ASSERT(word.size() <= text.size());
      }
    } catch (const ConfigError&) {
    }
    RC_ASSERT(NearestName(text, Words{text}) == text);
  }));
}

}  // namespace
}  // namespace hyperopt

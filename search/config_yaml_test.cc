// YAML as the search file reads it: scalars, places, and what is refused.
#include <doctest/doctest.h>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::Has;
using testing::Parse;

// The JSON that the value of a model key becomes.
std::string JsonOf(const std::string& yaml) {
  const std::string model = Parse(CommandFile("", "x: " + yaml + "\n")).model;
  return model.substr(5, model.size() - 6);  // {"x": ... }
}

TEST_SUITE_BEGIN("config yaml");

TEST_CASE("scalars are those of YAML 1.2's core schema") {
  CHECK(JsonOf("[1, -2, +3, 0x1F, 0o17, 010]") == "[1,-2,3,31,15,10]");
  CHECK(JsonOf("[1e-5, 1E3, .5, 5., -1.5e+2]") == "[1e-05,1000.0,0.5,5.0,-150.0]");
  CHECK(JsonOf("[true, True, TRUE, false, False, FALSE]") ==
        "[true,true,true,false,false,false]");
  CHECK(JsonOf("[null, Null, NULL, ~, ]") == "[null,null,null,null]");
  CHECK(JsonOf("[yes, no, on, off, y, 1_000, 1e, e5, 0b1, 1:30, 2001-01-01]") ==
        R"(["yes","no","on","off","y","1_000","1e","e5","0b1","1:30","2001-01-01"])");
  CHECK(JsonOf(R"(["1", '1e-5', "true", "null", ""])") ==
        R"(["1","1e-5","true","null",""])");
  CHECK(JsonOf("[!!str 1, !!float 1, !!int 2, !!bool true]") == R"(["1",1.0,2,true])");
  CHECK(JsonOf("[9223372036854775807, -9223372036854775808]") ==
        "[9223372036854775807,-9223372036854775808]");
}

TEST_CASE("a number beyond 64 bits is told, not rounded") {
  for (const char* number :
       {"9223372036854775808", "-9223372036854775809", "0xFFFFFFFFFFFFFFFF"}) {
    CAPTURE(std::string(number));
    CHECK(
        Contains(Errors(CommandFile("", "x: " + std::string(number) + "\n")),
                 "search.yaml:2:4: x: " + std::string(number) + " is beyond 64 bits"));
  }
  CHECK(Contains(Errors(CommandFile("", "x: {y: [1, 1e999]}\n")),
                 "search.yaml:2:12: x.y.1: 1e999 is beyond the range of a double"));
}

TEST_CASE("an infinity in the model is said to become a string") {
  const SearchConfig config = Parse(CommandFile("", "x: [.inf, -.INF, .NaN]\n"));
  CHECK(config.model == R"({"x":["Infinity","-Infinity","NaN"]})");
  CHECK(Has(config.notes, "x holds NaN or an infinity"));
}

TEST_CASE("a repeated key is an error with both places") {
  CHECK(Contains(
      Errors(CommandFile("  goal: minimize\n  goal: maximize\n")),
      "search.yaml:6:3: hyperopt.goal: the key is there twice; the first is on "
      "line 5"));
  CHECK(Contains(Errors(CommandFile("", "x: {a: 1, \"a\": 2}\n")), "x.a: the key"));
  CHECK(Contains(Errors(CommandFile("", "x: [{a: 1, a: 2}]\n")), "the key is there"));
}

TEST_CASE("anchors, aliases and merge keys") {
  CHECK(JsonOf("{a: &l [1, 2], b: *l}") == R"({"a":[1,2],"b":[1,2]})");
  CHECK(JsonOf("{a: &m {k: 1, l: 2}, b: {l: 3, <<: *m}}") ==
        R"({"a":{"k":1,"l":2},"b":{"k":1,"l":3}})");
  CHECK(JsonOf("{a: &m {k: 1}, n: &n {k: 2, l: 3}, b: {<<: [*m, *n]}}") ==
        R"({"a":{"k":1},"n":{"k":2,"l":3},"b":{"k":1,"l":3}})");
  CHECK(JsonOf("{\"<<\": 1}") == R"({"<<":1})");
  CHECK(Contains(Errors(CommandFile("", "x: {<<: 1}\n")), "<< takes a map"));
  CHECK(Contains(Errors(CommandFile("", "x: *nowhere\n")), "not valid YAML"));
  CHECK(Contains(Errors(CommandFile("", "x: &a [*a]\n")),
                 "search.yaml:2:8: an alias within the value"));
}

TEST_CASE("a parameter may take its space from an anchor") {
  const SearchConfig config = Parse(
      "unit: &unit {space: uniform, lower: 0, upper: 1}\n"
      "command: [run, \"${args}\"]\n"
      "hyperopt: {metric: loss, parameters: {a: *unit, b: {<<: *unit, upper: 2}}}\n");
  CHECK(config.space.Find("a")->domain == Domain{FloatDomain{0, 1, false, {}}});
  CHECK(config.space.Find("b")->domain == Domain{FloatDomain{0, 2, false, {}}});
}

TEST_CASE("an alias bomb is refused, soon") {
  std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += (k > 0 ? ", " : "") + before;
    text += "]\n";
  }
  CHECK(Contains(Errors(text + CommandFile()), "the file grows too large"));
}

TEST_CASE("aliases do not nest deeper than brackets may") {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    const std::string inner = i == 0 ? "1" : "*a" + std::to_string(i - 1);
    text +=
        "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [[" + inner + "]]\n";
  }
  CHECK(Contains(Errors(text + CommandFile()), "nested more than 64 deep"));
}

TEST_CASE("a key that no JSON text could be read back with") {
  CHECK(Contains(Errors(CommandFile("", "? " + std::string(2000, 'k') + "\n: 1\n")),
                 "a key of over 1000 bytes"));
}

TEST_CASE("deep nesting and large files are refused") {
  CHECK(Contains(Errors(CommandFile(
                     "", "x: " + std::string(100, '[') + std::string(100, ']') + "\n")),
                 "nested more than 64 deep"));
  CHECK(Contains(Errors("x: " + std::string(100000, '[')), "search.yaml:1:5"));
  CHECK(Contains(Errors("x: " + std::string(100000, '{')), "search.yaml:1:5"));
  CHECK(Contains(Errors(std::string((8 << 20) + 1, '#')), "too large: 8 MiB"));
}

TEST_CASE("what is no YAML is told with its place") {
  CHECK(Contains(Errors("a:\n\tb: 1\n"), "search.yaml:2:"));
  CHECK(Contains(Errors("a:\n\tb: 1\n"), "with blanks, never with tabs"));
  CHECK(Contains(Errors("a: b\n c: d\n"), "search.yaml:2:3: not valid YAML"));
  CHECK(Contains(Errors("a: [1, 2\n"), "not valid YAML"));
  CHECK(Contains(Errors("a: {b: 1\n"), "not valid YAML"));
  CHECK(Contains(Errors("command: [run, --lr=${lr}]\n"), "needs quotes: \"${name}\""));
  CHECK(Contains(Errors("a: 1\n---\nb: 2\n"), "search.yaml:2:1: a second document"));
  CHECK(Contains(Errors("{a: 1}: 2\n"), "search.yaml:1:1: a map or list stands where"));
  CHECK(
      Contains(Errors("a: !!python/object:os.system x\n"), "the tag !!python/object"));
  CHECK(Contains(Errors("a: !thing {b: 1}\n"), "the tag !thing"));
  CHECK(Contains(Errors("a: !!int x\n"), "the tag !!int can not be used for x"));
}

TEST_CASE("a quote that never ends does not swallow the rest in silence") {
  CHECK(Contains(Errors(CommandFile("", "x: \"abc\n")), "a quote without its partner"));
  CHECK(Contains(Errors(CommandFile() + "x: 'it''s\n"), "a quote without its partner"));
  CHECK(Contains(Errors(CommandFile() + "x: &a \"abc\\\"\n"), "without its partner"));
  CHECK(Errors(CommandFile() + "x: 'it''s'\n").empty());
  CHECK(Errors("\xef\xbb\xbf" + CommandFile() + "x: \"a\\\"b\"").empty());
}

TEST_CASE("what is no text") {
  CHECK(Contains(Errors("a: \xff\n"), "search.yaml:1:4: the text is not UTF-8"));
  CHECK(Contains(Errors("a: \xed\xa0\x80\n"), "not UTF-8"));
  CHECK(
      Contains(Errors("a: 1\nb: \x04"), "search.yaml:2:4: the control character 0x04"));
  CHECK(Contains(Errors(CommandFile("", "x: \"a\\0b\"\n")), "a NUL byte"));
  CHECK(
      Errors(CommandFile("", "x: \"gr\xc3\xbc\xc3\x9f \xf0\x9f\x8c\x8d\"\n")).empty());
}

TEST_CASE("an empty file, or one that is no map") {
  CHECK(Errors("") == "search.yaml: the file is empty\n");
  CHECK(Errors("# nothing\n") == "search.yaml: the file is empty\n");
  CHECK(Errors("- a\n") == "search.yaml:1:1: must be a map of keys, not a list\n");
  CHECK(Errors("hello\n") ==
        "search.yaml:1:1: must be a map of keys, not the string \"hello\"\n");
}

TEST_CASE("a file of nothing but errors stays readable") {
  std::string text = CommandFile();
  for (int i = 0; i < 300; ++i) text += "  wrong" + std::to_string(i) + ": 1\n";
  const auto lines = testing::ErrorsOf(text);
  CHECK(lines.size() == 101);
  CHECK(lines.back() == "100 of 300 problems shown");
  CHECK_FALSE(Contains(Errors(CommandFile("  \"a\\e[31m\": 1\n")), "\x1b"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

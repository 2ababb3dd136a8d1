#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "executors/internal/utf8.h"
#include "executors/report_reader.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::optional<ReportLine> Parse(std::string_view line) {
  Oddities odd;
  return ParseReportLine(line, &odd);
}
double Value(std::string_view line, const std::string& field = "x") {
  const auto report = Parse(line);
  REQUIRE_MESSAGE(report.has_value(), line);
  REQUIRE_MESSAGE(report->values.count(field) == 1, line);
  return report->values.at(field);
}

TEST_SUITE("report line") {
  TEST_CASE("what a script writes") {
    const auto report = Parse(R"({"step": 3, "loss": 0.41, "acc": 1e-05, "n": 7})");
    REQUIRE(report);
    CHECK(report->step == 3);
    CHECK(report->values ==
          std::map<std::string, double>{{"loss", 0.41}, {"acc", 1e-05}, {"n", 7}});
  }

  TEST_CASE("numbers in all their forms") {
    CHECK(Value(R"({"x":0})") == 0);
    CHECK(std::signbit(Value(R"({"x":-0.0})")));
    CHECK(Value(R"({"x":1E+2})") == 100);
    CHECK(Value(R"({"x":.5})") == 0.5);
    CHECK(Value(R"({"x":-.5})") == -0.5);
    CHECK(Value(R"({"x":+5})") == 5);
    CHECK(Value(R"({"x":9223372036854775807})") == 9223372036854775807.0);
    CHECK(Value(R"({"x":123456789012345678901234567890})") == 1.2345678901234568e29);
    CHECK(Value(R"({"x":1e999})") == kInf);
    CHECK(Value(R"({"x":-1e999})") == -kInf);
    CHECK(Value(R"({"x":1e-999})") == 0);
    CHECK(Value(R"({"x":0.1})") == 0.1);
    CHECK(Value(R"({"x":5e-324})") == 5e-324);
    CHECK(Value(R"({"x":true})") == 1);
    CHECK(Value(R"({"x":false})") == 0);
  }

  TEST_CASE("NaN and infinity, bare and in strings, as Python and C write them") {
    for (const char* word : {"NaN", "nan", "-nan", "NAN"}) {
      CHECK(std::isnan(Value("{\"x\":" + std::string(word) + "}")));
      CHECK(std::isnan(Value("{\"x\":\"" + std::string(word) + "\"}")));
    }
    for (const char* word : {"Infinity", "inf", "+inf", "INF"}) {
      CHECK(Value("{\"x\":" + std::string(word) + "}") == kInf);
      CHECK(Value("{\"x\":\"" + std::string(word) + "\"}") == kInf);
    }
    for (const char* word : {"-Infinity", "-inf"}) {
      CHECK(Value("{\"x\":" + std::string(word) + "}") == -kInf);
    }
  }

  TEST_CASE("steps are integers") {
    CHECK(Parse(R"({"step":3.0,"x":1})")->step == 3);
    CHECK(Parse(R"({"step":1e3,"x":1})")->step == 1000);
    CHECK(Parse(R"({"step":9007199254740993,"x":1})")->step == 9007199254740993);
    CHECK(Parse(R"({"step":9223372036854775807,"x":1})")->step == INT64_MAX);
    CHECK(Parse(R"({"step":-9223372036854775808,"x":1})")->step == INT64_MIN);
    for (const char* word : {"3.5",
                             "NaN",
                             "1e19",
                             "9223372036854775808",
                             "null",
                             "\"3\"",
                             "[3]",
                             "-Infinity",
                             "101457092405402533877"}) {
      const auto report = Parse("{\"step\":" + std::string(word) + ",\"x\":1}");
      REQUIRE_MESSAGE(report, word);
      CHECK_MESSAGE(!report->step, word);
      CHECK(report->values.at("x") == 1);
    }
    CHECK(Value(R"({"step":3.5})", "step") == 3.5);
  }

  TEST_CASE("what is no number is stepped over") {
    const auto report = Parse(
        R"( { "a" : "text, with } and \" in it" , "b":[1,{"c":"]"},[]], "d":{"e":{}},)"
        R"("f":null, "loss" : 0.5 , "g":"0.5" } )");
    REQUIRE(report);
    CHECK(report->values == std::map<std::string, double>{{"loss", 0.5}});
  }

  TEST_CASE("of a repeated key the last") {
    CHECK(Value(R"({"x":1,"x":2})") == 2);
    CHECK_FALSE(Parse(R"({"x":1,"x":"no"})"));
    CHECK_FALSE(Parse(R"({"step":1,"step":"no","x":1})")->step);
  }

  TEST_CASE("keys with escapes and other alphabets") {
    CHECK(Value(R"({"a\"b\\\u00e9\ud83d\ude00\n":1})", "a\"b\\é😀\n") == 1);
    CHECK(Value(R"({"Δloss":1})", "Δloss") == 1);
    CHECK(Value(R"({"\ud800":1})", "\xef\xbf\xbd") == 1);
    CHECK(Value(R"({"\ud800\u0041":1})",
                "\xef\xbf\xbd"
                "A") == 1);
    CHECK(Value(R"({"":1})", "") == 1);
  }

  TEST_CASE("line ends, blanks and a byte order mark do no harm") {
    CHECK(Value("{\"x\":1}\r") == 1);
    CHECK(Value("\xef\xbb\xbf{\"x\":1}") == 1);
    CHECK(Value("\t{\t\"x\"\t:\t1\t}\t") == 1);
    Oddities odd;
    CHECK_FALSE(ParseReportLine("", &odd));
    CHECK_FALSE(ParseReportLine(" \t\r", &odd));
    CHECK_FALSE(odd.any());
  }

  TEST_CASE("what is no report is counted by its kind, and the first is shown") {
    Oddities odd;
    for (const char* line : {"loss 0.5",
                             "{",
                             "{\"x\":}",
                             "{\"x\":1",
                             "{\"x\":1}}",
                             "{\"x\":1}{\"x\":2}",
                             "{\"x\":1,}",
                             "{x:1}",
                             "{'x':1}",
                             "[1]",
                             "1",
                             "\"x\"",
                             "{\"x\" 1}",
                             "{\"x\":tru}",
                             "{\"x\":\"a",
                             "{\"x\":[1}",
                             "{\"x\":\"\\q\"}",
                             "{\"x\":\"\\u12\"}",
                             "{\"x\":0x10}",
                             "{\"x\":1 2}",
                             "{\"x\":--1}",
                             "{\"a\tb\":1}",
                             "{\"x\":infinit}"}) {
      const int64_t before = odd.not_json;
      CHECK_FALSE(ParseReportLine(line, &odd));
      CHECK_MESSAGE(odd.not_json == before + 1, line);
    }
    CHECK(odd.first == "loss 0.5");
    CHECK_FALSE(ParseReportLine("{}", &odd));
    CHECK_FALSE(ParseReportLine("{\"x\":\"text\"}", &odd));
    CHECK(odd.no_number == 2);
    CHECK_FALSE(ParseReportLine(std::string("{\"x\":1\0}", 8), &odd));
    CHECK_FALSE(ParseReportLine("{\"x\":1,\"y\":\"\xff\"}", &odd));
    CHECK(odd.binary == 2);
    CHECK_FALSE(ParseReportLine(std::string((1 << 20) + 1, ' '), &odd));
    CHECK(odd.too_long == 1);

    Oddities shown;
    CHECK_FALSE(ParseReportLine("\x01\xff" + std::string(1000, 'y'), &shown));
    CHECK(shown.first == "??" + std::string(198, 'y'));
  }

  TEST_CASE("deep nesting needs no stack") {
    CHECK(Value("{\"y\":" + std::string(400'000, '[') + std::string(400'000, ']') +
                ",\"x\":1}") == 1);
    CHECK_FALSE(Parse("{\"y\":" + std::string(500'000, '[')));
  }

  // Whatever a JSON library takes for an object is read here with the same numbers.
  TEST_CASE("agrees with a JSON library on mutated lines") {
    Rng rng(7, TrialId(0), "report line");
    const std::string alphabet = "{}[]\",:\\ 0123456789.eE+-truefalsn\tu\xc3\xa9";
    int objects = 0;
    for (int i = 0; i < 100'000; ++i) {
      std::string line =
          R"({"step": 3, "a": -0.5e1, "b": [1, {"c": "d\n"}], "e": true})";
      for (uint64_t k = rng.Below(4); k > 0; --k) {
        line[rng.Below(line.size())] = alphabet[rng.Below(alphabet.size())];
      }
      const auto json = nlohmann::json::parse(line, nullptr, false);
      const auto ours = Parse(line);
      if (!json.is_object()) continue;
      ++objects;
      std::map<std::string, double> numbers;
      for (const auto& [key, value] : json.items()) {
        if (value.is_number()) numbers[key] = value.get<double>();
        if (value.is_boolean()) numbers[key] = value.get<bool>() ? 1 : 0;
      }
      if (ours && ours->step) numbers.erase("step");
      REQUIRE_MESSAGE((ours ? ours->values : decltype(numbers){}) == numbers, line);
    }
    CHECK(objects > 10'000);
  }
}

TEST_SUITE("utf-8") {
  TEST_CASE("text and what is none") {
    using internal::IsText;
    CHECK(IsText(""));
    CHECK(IsText("plain text that is longer than a word"));
    CHECK(IsText("é ß € 😀 \xf4\x8f\xbf\xbf"));
    for (const char* bytes : {"\x80",
                              "\xc3",
                              "\xc0\xaf",
                              "\xe0\x80\xaf",
                              "\xed\xa0\x80",
                              "\xf0\x80\x80\xaf",
                              "\xf4\x90\x80\x80",
                              "\xff",
                              "eight by\xe2\x82",
                              "\xf8\x88\x80\x80\x80"}) {
      CHECK_FALSE(IsText(bytes));
    }
    CHECK_FALSE(IsText(std::string_view("a\0b", 3)));
  }
}

}  // namespace
}  // namespace hyperopt

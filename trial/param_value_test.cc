#include "trial/param_value.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "trial/errors.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

ParamValue Again(const ParamValue& value) {
  return ParamValueFromJsonText(ToJsonText(value));
}

TEST_CASE("param value: 1, 1.0, true and \"1\" are four values") {
  const std::vector<ParamValue> values = {int64_t{1}, 1.0, true, std::string("1")};
  CHECK(std::set<ParamValue>(values.begin(), values.end()).size() == 4);
  std::set<std::string> texts;
  for (const ParamValue& value : values) {
    texts.insert(ToJsonText(value));
    CHECK(Again(value) == value);
  }
  CHECK(texts == std::set<std::string>{"1", "1.0", "true", "\"1\""});
}

TEST_CASE("param value: every kind comes back from its JSON text") {
  const std::vector<ParamValue> values = {
      std::monostate{},
      false,
      std::numeric_limits<int64_t>::min(),
      std::numeric_limits<int64_t>::max(),
      (int64_t{1} << 53) + 1,
      0.1,
      1e22,
      1e16,
      5e-324,
      1.7976931348623157e308,
      std::string(),
      std::string("a \"quote\", a \\ and a\nline"),
      std::string("Grüße, 世界"),
      std::string("NaN"),
      Structured{R"([1,1.0,"1",{"b":null,"a":true}])"}};
  for (const ParamValue& value : values) {
    CAPTURE(ToJsonText(value));
    CHECK(Again(value) == value);
  }
  CHECK(std::signbit(std::get<double>(Again(-0.0))));
}

TEST_CASE("param value: a double reads back exactly, from C's reader too") {
  Rng rng(42, TrialId(0), "doubles");
  int tried = 0;
  while (tried < 10000) {
    const uint64_t bits = rng.Next();
    double x = 0;
    static_assert(sizeof bits == sizeof x);
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isfinite(x)) continue;
    ++tried;
    const std::string text = DoubleToText(x);
    CHECK(std::strtod(text.c_str(), nullptr) == x);
    CHECK(Again(x) == ParamValue(x));
    // A point in it: YAML 1.1 takes 1e-05 for a string, and 1 would be an integer.
    CHECK(text.find('.') != std::string::npos);
  }
}

TEST_CASE("param value: doubles in their shortest form") {
  CHECK(DoubleToText(1) == "1.0");
  CHECK(DoubleToText(0.3) == "0.3");
  CHECK(DoubleToText(1e-5) == "1.0e-05");
  CHECK(DoubleToText(-0.0) == "-0.0");
  CHECK(DoubleToText(std::nan("")) == "NaN");
  CHECK(DoubleToText(HUGE_VAL) == "Infinity");
  CHECK(DoubleToText(-HUGE_VAL) == "-Infinity");
}

TEST_CASE("param value: words of a command line") {
  CHECK(ToWord(std::string("a b\"c")) == "a b\"c");
  CHECK(ToWord(true) == "true");
  CHECK(ToWord(std::monostate{}) == "null");
  CHECK(ToWord(int64_t{-3}) == "-3");
  CHECK(ToWord(2.0) == "2.0");
  CHECK(ToWord(Structured{"[1,2]"}) == "[1,2]");
}

TEST_CASE("param value: structured values keep the order of their keys") {
  const ParamValue value = ParamValueFromJsonText(R"({ "b": 1, "a": [ 2.0 ] })");
  CHECK(std::get<Structured>(value).json == R"({"b":1,"a":[2.0]})");
}

TEST_CASE("param value: params come back, names sorted") {
  const Params params = {{"z", int64_t{1}},
                         {"a \"b\"", std::string("x")},
                         {".", Structured{R"({"trainer":{"epochs":3}})"}}};
  CHECK(ParamsFromJsonText(ToJsonText(params)) == params);
  CHECK(ToJsonText(Params{}) == "{}");
  CHECK(ParamsFromJsonText("{}") == Params{});
}

TEST_CASE("param value: text that is no JSON, or no object, is refused") {
  for (const char* text : {"", "{", "NaN", "{\"a\":}", "1 2", "\xff", "1e999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(ParamValueFromJsonText(text), ConfigError);
  }
  CHECK_THROWS_AS(ParamsFromJsonText("[1]"), ConfigError);
  CHECK_THROWS_AS(ParamsFromJsonText("1"), ConfigError);
}

}  // namespace
}  // namespace hyperopt

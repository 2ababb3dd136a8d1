// What a user may rely on, case by case; the properties over arbitrary spaces are in
// space_property_test.cc.
#include "trial/space.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "trial/errors.h"

namespace hyperopt {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

double Float(const ParamValue& value) { return std::get<double>(value); }
int64_t Int(const ParamValue& value) { return std::get<int64_t>(value); }

std::map<ParamValue, int> Count(const Domain& domain, int draws) {
  Rng rng(42, TrialId(0), "count");
  std::map<ParamValue, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[Draw(domain, rng)];
  return counts;
}

double ChiSquare(const std::map<ParamValue, int>& counts, double expected) {
  double sum = 0;
  for (const auto& [value, n] : counts) {
    sum += (n - expected) * (n - expected) / expected;
  }
  return sum;
}

TEST_CASE("space: every k of a quantised integer is as likely, both ends included") {
  // 10 .. 50 by 10: sample-then-round gives the ends half the weight of the others, and
  // an excluded upper end never comes.
  const IntDomain domain{.lower = 10, .upper = 50, .step = 10};
  const auto counts = Count(domain, 100000);
  REQUIRE(counts.size() == 5);
  for (int64_t k : {10, 20, 30, 40, 50}) CHECK(counts.contains(ParamValue(k)));
  CHECK(ChiSquare(counts, 20000) < 18.47);  // 4 degrees of freedom, p = 0.001
}

TEST_CASE("space: q = 1 quantises like any other q") {
  const FloatDomain domain{.lower = -10, .upper = 10, .step = 1};
  const auto counts = Count(domain, 100000);
  REQUIRE(counts.size() == 21);
  for (const auto& [value, n] : counts) CHECK(Float(value) == std::round(Float(value)));
  CHECK(counts.contains(ParamValue(-10.0)));
  CHECK(counts.contains(ParamValue(10.0)));
  CHECK(ChiSquare(counts, 100000 / 21.0) < 45.31);  // 20 degrees, p = 0.001
}

TEST_CASE("space: a decimal grid holds the decimals a person would write") {
  const Domain domain = FloatDomain{.lower = 0.1, .upper = 0.9, .step = 0.1};
  const double expected[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  REQUIRE(Cardinality(domain) == 9);
  for (int64_t k = 0; k < 9; ++k) CHECK(Float(ValueAt(domain, k)) == expected[k]);
  CHECK(ToJsonText(ValueAt(domain, 2)) == "0.3");
  CHECK(ToUnit(domain, 0.3).has_value());
  CHECK_FALSE(ToUnit(domain, 0.1 + 2 * 0.1).has_value());
}

TEST_CASE("space: a grid ends at or below upper, whatever the rounding") {
  const auto last = [](double lower, double upper, double step) {
    const Domain domain = FloatDomain{.lower = lower, .upper = upper, .step = step};
    return Float(ValueAt(domain, Cardinality(domain).value() - 1));
  };
  CHECK(last(0, 1, 0.1) == 1.0);
  CHECK(last(0, 0.95, 0.1) == 0.9);
  CHECK(last(0, 0.9999999999, 0.1) == 0.9);  // within 1e-9 steps of 1.0, and not 1.0
  CHECK(last(1e-5, 1e-4, 1e-5) == 1e-4);
  CHECK(last(-0.3, 0.3, 0.2) == 0.3);
  CHECK(last(1e22, 5e22, 1e22) == 5e22);
  CHECK(last(1e-320, 5e-320, 1e-320) == 5e-320);
  // Too many digits for 64 bits: the nearest double to the sum.
  CHECK(last(1e10, 1e10 + 1, 1.0 / 3) == std::fma(3.0, 1.0 / 3, 1e10));
  CHECK(last(0.1234567890123456, 9e5, 1e5 / 3) <= 9e5);
}

TEST_CASE("space: an integer range is never enumerated") {
  // hyperopt's randint(2^31) built a list of them all.
  const Domain wide = IntDomain{.lower = 0, .upper = int64_t{1} << 31};
  CHECK(Int(FromUnit(wide, 0)) == 0);
  CHECK(Int(FromUnit(wide, 1)) == int64_t{1} << 31);
  CHECK(Cardinality(wide) == (int64_t{1} << 31) + 1);

  const Domain all = IntDomain{.lower = kMin, .upper = kMax};
  CHECK(Int(FromUnit(all, 0)) == kMin);
  CHECK(Int(FromUnit(all, 1)) == kMax);
  CHECK(Int(FromUnit(all, 0.5)) == 0);
  CHECK_FALSE(Cardinality(all).has_value());
  const Domain log = IntDomain{.lower = 1, .upper = kMax, .log = true};
  CHECK(Int(FromUnit(log, 0)) == 1);
  CHECK(Int(FromUnit(log, 1)) > kMax / 2);
}

TEST_CASE("space: draws from a wide range reach the low bits") {
  // 53 random bits spread over 64 would make every seed a multiple of 2048.
  Rng rng(42, TrialId(0), "seed");
  const Domain all = IntDomain{.lower = kMin, .upper = kMax};
  int odd = 0;
  for (int i = 0; i < 10000; ++i) odd += static_cast<int>(Int(Draw(all, rng)) & 1);
  CHECK(odd == doctest::Approx(5000).epsilon(0.05));
}

TEST_CASE("space: an ordinary int range has both ends, one after the other") {
  const Domain domain = IntDomain{.lower = 1, .upper = 3};
  CHECK(Count(domain, 1000).size() == 3);
  CHECK(Int(FromUnit(domain, 0.33)) == 1);
  CHECK(Int(FromUnit(domain, 0.34)) == 2);
  CHECK(Int(FromUnit(domain, 0.99)) == 3);
  const Domain one = IntDomain{.lower = 5, .upper = 5};
  CHECK(Int(FromUnit(one, 0.7)) == 5);
  CHECK(Cardinality(one) == 1);
}

TEST_CASE("space: log integers come by the mass of [k, k + 1)") {
  const IntDomain domain{.lower = 1, .upper = 8, .log = true};
  const auto counts = Count(domain, 100000);
  REQUIRE(counts.size() == 8);
  double chi = 0;
  for (int64_t k = 1; k <= 8; ++k) {
    const double expected = 1e5 * std::log((k + 1.0) / k) / std::log(9.0);
    chi += std::pow(counts.at(ParamValue(k)) - expected, 2) / expected;
  }
  CHECK(chi < 24.32);  // 7 degrees of freedom, p = 0.001
}

TEST_CASE("space: quantised log floats come by the mass of their clipped cell") {
  // hyperopt's density of qloguniform was wrong at the edges. Here 1 owns [1, 1.5],
  // 4 owns [3.5, 4.3].
  const FloatDomain domain{.lower = 1, .upper = 4.3, .log = true, .step = 1};
  const auto counts = Count(domain, 100000);
  REQUIRE(counts.size() == 4);
  const double edges[] = {1, 1.5, 2.5, 3.5, 4.3};
  double chi = 0;
  for (size_t k = 0; k < 4; ++k) {
    const double expected = 1e5 * std::log(edges[k + 1] / edges[k]) / std::log(4.3);
    chi += std::pow(counts.at(ParamValue(1.0 + static_cast<double>(k))) - expected, 2) /
           expected;
  }
  CHECK(chi < 16.27);  // 3 degrees of freedom, p = 0.001
}

TEST_CASE("space: loguniform is uniform in the logarithm") {
  const Domain domain = FloatDomain{.lower = 1e-5, .upper = 1e-1, .log = true};
  CHECK(Float(FromUnit(domain, 0)) == 1e-5);
  CHECK(Float(FromUnit(domain, 0.5)) == doctest::Approx(1e-3));
  CHECK(Float(FromUnit(domain, 1)) == doctest::Approx(1e-1));
  const Domain extreme = FloatDomain{.lower = 1e-300, .upper = 1e300, .log = true};
  CHECK(Float(FromUnit(extreme, 0.5)) == doctest::Approx(1).epsilon(1e-9));
}

TEST_CASE("space: the widest float range does not overflow") {
  constexpr double kHuge = std::numeric_limits<double>::max();
  const Domain domain = FloatDomain{.lower = -kHuge, .upper = kHuge};
  CHECK(Float(FromUnit(domain, 0)) == -kHuge);
  CHECK(Float(FromUnit(domain, 0.5)) == 0);
  CHECK(ToUnit(domain, 0.0).value() == 0.5);
}

TEST_CASE("space: normal draws, and q rounds them to multiples") {
  Rng rng(42, TrialId(0), "normal");
  const Domain domain = NormalDomain{.mean = 3, .sd = 2};
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = Float(Draw(domain, rng));
    sum += x;
    squares += (x - 3) * (x - 3);
  }
  CHECK(sum / 1e5 == doctest::Approx(3).epsilon(0.01));
  CHECK(std::sqrt(squares / 1e5) == doctest::Approx(2).epsilon(0.01));
  CHECK(std::isfinite(Float(FromUnit(domain, 0))));
  CHECK(std::isfinite(Float(FromUnit(domain, 1))));

  const Domain tenths = NormalDomain{.mean = 0, .sd = 1, .q = 0.1};
  const auto counts = Count(tenths, 100000);
  const double expected = 1e5 * (NormalCdf(0.35) - NormalCdf(0.25));
  CHECK(counts.at(ParamValue(0.3)) == doctest::Approx(expected).epsilon(0.1));
  CHECK(counts.contains(ParamValue(-0.3)));
  CHECK(ToUnit(tenths, -1.2).has_value());
  CHECK_FALSE(ToUnit(tenths, 0.25).has_value());
}

TEST_CASE("space: categories are told apart by type and value") {
  // Optuna takes 1, 1.0 and True for one category.
  const std::vector<ParamValue> values = {
      int64_t{1}, 1.0, true, std::string("1"), std::monostate{}, Structured{"[1]"}};
  const Domain domain = CategoricalDomain{values};
  CHECK_FALSE(ProblemWith(domain).has_value());
  for (const ParamValue& value : values) {
    CHECK(FromUnit(domain, ToUnit(domain, value).value()) == value);
  }
  CHECK(Count(domain, 10000).size() == 6);
  CHECK_FALSE(ToUnit(domain, int64_t{2}).has_value());
  CHECK_FALSE(ToUnit(CategoricalDomain{{1.0}}, int64_t{1}).has_value());
}

TEST_CASE("space: types never change, but for an integer in a float's place") {
  const Domain floats = FloatDomain{.lower = 0, .upper = 2};
  CHECK(ToUnit(floats, int64_t{1}) == ToUnit(floats, 1.0));
  CHECK(Typed(floats, int64_t{1}) == ParamValue(1.0));
  CHECK_FALSE(ToUnit(floats, true).has_value());
  CHECK_FALSE(ToUnit(floats, std::string("1")).has_value());
  // 2^53 + 1 is no double.
  CHECK(Typed(floats, (int64_t{1} << 53) + 1) == ParamValue((int64_t{1} << 53) + 1));
  const Domain ints = IntDomain{.lower = 0, .upper = 2};
  CHECK_FALSE(ToUnit(ints, 1.0).has_value());
  CHECK(Typed(ints, 1.0) == ParamValue(1.0));
}

TEST_CASE("space: values outside are told") {
  const Domain floats = FloatDomain{.lower = 0, .upper = 1};
  for (double x : {-0.1, 1.1, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    CHECK_FALSE(ToUnit(floats, x).has_value());
  }
  const Domain steps = IntDomain{.lower = 10, .upper = 25, .step = 10};
  CHECK(ToUnit(steps, int64_t{20}).has_value());
  for (int64_t x : {9, 15, 25, 30}) CHECK_FALSE(ToUnit(steps, x).has_value());
}

TEST_CASE("space: each kind of invalid domain has its own words") {
  const double nan = std::nan("");
  struct Case {
    Domain domain;
    const char* words;
  };
  const Case cases[] = {
      {FloatDomain{.lower = 1, .upper = 1}, "lower (1.0) must be below upper (1.0)"},
      {FloatDomain{.lower = 0, .upper = nan}, "must be finite"},
      {FloatDomain{.lower = 0, .upper = HUGE_VAL}, "must be finite"},
      {FloatDomain{.lower = 0, .upper = 1, .log = true}, "above 0"},
      {FloatDomain{.lower = 0, .upper = 1, .step = 0.0}, "above 0"},
      {FloatDomain{.lower = 0, .upper = 1, .step = nan}, "finite"},
      {FloatDomain{.lower = 0, .upper = 1, .step = 2.0}, "larger than the range"},
      {FloatDomain{.lower = 0, .upper = 1, .step = 1e-300}, "too small"},
      {FloatDomain{.lower = 1e20, .upper = 2e20, .step = 1.0}, "too small"},
      {IntDomain{.lower = 2, .upper = 1}, "must not be above"},
      {IntDomain{.lower = 0, .upper = 9, .log = true}, "above 0"},
      {IntDomain{.lower = 0, .upper = 9, .step = 0}, "above 0"},
      {IntDomain{.lower = 0, .upper = 9, .step = 10}, "larger than the range"},
      {NormalDomain{.sd = 0}, "sd"},
      {NormalDomain{.mean = nan}, "mean"},
      {NormalDomain{.q = -1.0}, "q"},
      {NormalDomain{.q = 1e-30}, "does not fit"},
      {CategoricalDomain{}, "empty"},
      {CategoricalDomain{{std::string("a"), std::string("a")}}, "\"a\" is in the list"},
      {GridDomain{{1.0, int64_t{1}, 1.0}}, "1.0 is in the list twice"},
      {GridDomain{{nan}}, "finite"},
  };
  for (const Case& c : cases) {
    const std::string problem = ProblemWith(c.domain).value_or("none");
    CAPTURE(problem);
    CHECK(problem.find(c.words) != std::string::npos);
  }
}

TEST_CASE("space: names are checked, values are looked up by name") {
  CHECK_THROWS_AS(SearchSpace({{"", IntDomain{}}}), ConfigError);
  CHECK_THROWS_AS(SearchSpace({{"a", IntDomain{}}, {"a", FloatDomain{}}}), ConfigError);
  CHECK_THROWS_WITH_AS(SearchSpace({{"a", CategoricalDomain{}}}),
                       "parameter a: the list of values is empty",
                       ConfigError);
  const SearchSpace space(
      {{"layers", IntDomain{.lower = 1, .upper = 6}}, {"rate", FloatDomain{}}});
  CHECK(space.Find("rate") != nullptr);
  CHECK(space.Find("r") == nullptr);
  CHECK_FALSE(space.ProblemWith({{"layers", int64_t{6}}}).has_value());
  CHECK(space.ProblemWith({{"layers", int64_t{7}}}) ==
        "layers: 7 is not in its space (int 1 .. 6)");
  CHECK(space.ProblemWith({{"layer", int64_t{1}}}) ==
        "layer: no such parameter; did you mean layers?");
}

TEST_CASE("space: what takes part, along a chain, and what may") {
  const auto list = [](std::vector<ParamValue> values) {
    return CategoricalDomain{std::move(values)};
  };
  const SearchSpace space({{"c", list({true, false}), {{"b", {int64_t{2}}}}},
                           {"b", list({int64_t{1}, int64_t{2}}), {{"a", {true}}}},
                           {"a", list({true, false})}});
  const Params all = {{"a", true}, {"b", int64_t{2}}, {"c", false}};
  CHECK(space.Active(all) == all);
  CHECK(space.Active({{"a", true}, {"b", int64_t{1}}, {"c", false}}) ==
        Params{{"a", true}, {"b", int64_t{1}}});
  CHECK(space.Active({{"a", false}, {"b", int64_t{2}}, {"c", false}}) ==
        Params{{"a", false}});
  // Of some: their parents may yet come.
  CHECK(space.Active({{"c", true}}) == Params{{"c", true}});
  CHECK(space.Active({{"a", false}, {"c", true}}) == Params{{"a", false}});
  CHECK_FALSE(space.TakesPart(*space.Find("c"), {{"a", true}}));
  CHECK(space.TakesPart(*space.Find("b"), {{"a", true}}));
  CHECK(space.ProblemWith({{"a", false}, {"b", int64_t{2}}}) ==
        "b: takes no part where a is false");
}

TEST_CASE("space: one line for a person") {
  CHECK(Describe(FloatDomain{.lower = 1e-5, .upper = 0.1, .log = true}) ==
        "loguniform 1.0e-05 .. 0.1");
  CHECK(Describe(FloatDomain{.lower = 0, .upper = 1, .step = 0.1}) ==
        "uniform 0.0 .. 1.0 by 0.1");
  CHECK(Describe(IntDomain{.lower = 1, .upper = 6}) == "int 1 .. 6");
  CHECK(Describe(CategoricalDomain{{std::string("sgd"), std::string("adam")}}) ==
        "one of sgd, adam");
  CHECK(Describe(NormalDomain{}) == "normal, mean 0.0 sd 1.0");
}

}  // namespace
}  // namespace hyperopt

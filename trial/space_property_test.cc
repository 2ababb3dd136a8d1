// Properties of arbitrary spaces: rapidcheck draws the domains.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "trial/space.h"

namespace hyperopt {
namespace {

double Unit() {
  return static_cast<double>(*rc::gen::inRange<uint64_t>(0, uint64_t{1} << 53)) *
         0x1p-53;
}

int64_t AnyInt() {
  // The full range and its ends: rapidcheck's own sizes stay small.
  const auto bits = *rc::gen::inRange(0, 65);
  const auto x = *rc::gen::resize(1000, rc::gen::arbitrary<uint64_t>());
  return static_cast<int64_t>(bits == 0 ? 0 : x >> (64 - bits));
}

IntDomain AnyIntDomain(bool log) {
  int64_t a = AnyInt();
  int64_t b = AnyInt();
  if (log) {
    a = a == std::numeric_limits<int64_t>::min() ? 1 : std::abs(a) | 1;
    b = b == std::numeric_limits<int64_t>::min() ? 1 : std::abs(b) | 1;
  }
  IntDomain domain{.lower = std::min(a, b), .upper = std::max(a, b), .log = log};
  const uint64_t width =
      static_cast<uint64_t>(domain.upper) - static_cast<uint64_t>(domain.lower);
  if (width > 1 && *rc::gen::arbitrary<bool>()) {
    const auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    domain.step = 1 + static_cast<int64_t>(*rc::gen::arbitrary<uint64_t>() %
                                           std::min(width, most));
  }
  return domain;
}

uint64_t StepsOf(const IntDomain& d) {
  return (static_cast<uint64_t>(d.upper) - static_cast<uint64_t>(d.lower)) /
         static_cast<uint64_t>(d.step);
}

// A member of the domain.
int64_t AnyMember(const IntDomain& d) {
  Rng rng(*rc::gen::arbitrary<uint64_t>(), TrialId(0), "member");
  const uint64_t last = StepsOf(d);
  const uint64_t k = *rc::gen::element(uint64_t{0}, last, last / 2, rng.Next());
  const uint64_t index = last + 1 == 0 ? k : k % (last + 1);
  return static_cast<int64_t>(static_cast<uint64_t>(d.lower) +
                              index * static_cast<uint64_t>(d.step));
}

uint64_t Apart(const ParamValue& a, const ParamValue& b) {
  const int64_t x = std::get<int64_t>(a);
  const int64_t y = std::get<int64_t>(b);
  return static_cast<uint64_t>(std::max(x, y)) - static_cast<uint64_t>(std::min(x, y));
}

void Hold(bool result) { CHECK(result); }

TEST_CASE("space property: FromUnit undoes ToUnit for any int range") {
  Hold(rc::check([] {
    const IntDomain domain = AnyIntDomain(/*log=*/false);
    RC_ASSERT(!ProblemWith(domain));
    const ParamValue value = AnyMember(domain);
    const auto u = ToUnit(domain, value);
    RC_ASSERT(u.has_value());
    RC_ASSERT(*u >= 0 && *u < 1);
    const uint64_t apart = Apart(FromUnit(domain, *u), value);
    const uint64_t last = StepsOf(domain);
    // Exact while [0, 1) has a place for each value; both ends always.
    const bool exact = last < uint64_t{1} << 53 || value == ParamValue(domain.lower) ||
                       Apart(value, domain.upper) < static_cast<uint64_t>(domain.step);
    const uint64_t allowed =
        exact ? 0 : ((last >> 53) + 1) * static_cast<uint64_t>(domain.step);
    RC_ASSERT(apart <= allowed);
  }));
}

TEST_CASE("space property: FromUnit undoes ToUnit for log ints up to 2^40 values") {
  Hold(rc::check([] {
    IntDomain domain = AnyIntDomain(/*log=*/true);
    const uint64_t last = StepsOf(domain);
    const ParamValue value = AnyMember(domain);
    const auto u = ToUnit(domain, value);
    RC_ASSERT(u.has_value());
    RC_ASSERT(*u >= 0 && *u < 1);
    const uint64_t apart = Apart(FromUnit(domain, *u), value);
    if (last < uint64_t{1} << 40) RC_ASSERT(apart == 0u);
    RC_ASSERT(apart / static_cast<uint64_t>(domain.step) <= last / 1000000);
  }));
}

TEST_CASE("space property: every u gives a member of the int domain, in order") {
  Hold(rc::check([](bool log) {
    const IntDomain domain = AnyIntDomain(log);
    const double u = Unit();
    const ParamValue a = FromUnit(domain, u);
    const ParamValue b = FromUnit(domain, Unit() * u);
    RC_ASSERT(ToUnit(domain, a).has_value());
    RC_ASSERT(ToUnit(domain, b).has_value());
    if (!log || StepsOf(domain) < uint64_t{1} << 40) RC_ASSERT(b <= a);
    Rng rng(*rc::gen::arbitrary<uint64_t>(), TrialId(0), "draw");
    RC_ASSERT(ToUnit(domain, Draw(domain, rng)).has_value());
  }));
}

// Decimals as a person writes them: up to 6 digits and a power of ten.
double AnyDecimal(int64_t from, int64_t to) {
  const int64_t digits = *rc::gen::inRange<int64_t>(from, to);
  const int exponent = *rc::gen::inRange(-8, 4);
  return std::stod(std::to_string(digits) + "e" + std::to_string(exponent));
}

TEST_CASE("space property: a float grid holds lower + k step, and only that") {
  Hold(rc::check([](bool log) {
    const double lower = log ? AnyDecimal(1, 1000000) : AnyDecimal(-1000000, 1000000);
    const double step = AnyDecimal(1, 100000);
    const auto steps = *rc::gen::inRange<int64_t>(1, 10000);
    const double upper = lower + (static_cast<double>(steps) + 0.5) * step;
    const FloatDomain domain{.lower = lower, .upper = upper, .log = log, .step = step};
    RC_PRE(!ProblemWith(domain));
    RC_ASSERT(Cardinality(domain) == steps + 1);
    const int64_t k = *rc::gen::inRange<int64_t>(0, steps + 1);
    const ParamValue value = ValueAt(domain, k);
    const double x = std::get<double>(value);
    // In long double the sum is right to 64 bits, so its double is the nearest or next.
    const auto exact = static_cast<double>(static_cast<long double>(lower) +
                                           static_cast<long double>(k) * step);
    RC_ASSERT(std::fabs(x - exact) <= 1e-14 * (std::fabs(lower) + std::fabs(upper)));
    // No digits that neither bound nor step has.
    RC_ASSERT(DoubleToText(x).size() <= 20u);
    RC_ASSERT(x >= lower);
    RC_ASSERT(x <= upper);
    RC_ASSERT(FromUnit(domain, ToUnit(domain, value).value()) == value);
    RC_ASSERT(ToUnit(domain, FromUnit(domain, Unit())).has_value());
  }));
}

TEST_CASE("space property: a continuous domain comes back to the last digits") {
  Hold(rc::check([](bool log) {
    const double a = log ? AnyDecimal(1, 1000000) : AnyDecimal(-1000000, 1000000);
    const double b = a + AnyDecimal(1, 1000000);
    const FloatDomain domain{.lower = a, .upper = b, .log = log};
    RC_PRE(!ProblemWith(domain));
    const double u = Unit();
    const ParamValue value = FromUnit(domain, u);
    const double x = std::get<double>(value);
    RC_ASSERT(x >= a);
    RC_ASSERT(x <= b);
    const double again = std::get<double>(FromUnit(domain, ToUnit(domain, x).value()));
    const double scale = log ? x * 32 : std::max(std::fabs(a), std::fabs(b));
    RC_ASSERT(std::fabs(again - x) <= 4 * 0x1p-52 * scale);
    const double before = std::get<double>(FromUnit(domain, u * Unit()));
    RC_ASSERT(before <= x);
  }));
}

TEST_CASE("space property: normal values come back, and multiples of q exactly") {
  Hold(rc::check([](bool quantised) {
    NormalDomain domain{.mean = AnyDecimal(-1000, 1000), .sd = AnyDecimal(1, 1000)};
    if (quantised) domain.q = AnyDecimal(1, 1000);
    RC_PRE(!ProblemWith(domain));
    // Within 5 sd: further out in the upper tail u has few digits left.
    const double u = NormalCdf(-5) + Unit() * (NormalCdf(5) - NormalCdf(-5));
    const ParamValue value = FromUnit(domain, u);
    const double x = std::get<double>(value);
    const auto unit = ToUnit(domain, value);
    RC_ASSERT(unit.has_value());
    const double again = std::get<double>(FromUnit(domain, *unit));
    const bool fine = quantised && *domain.q > domain.sd * 1e-6;
    if (fine) RC_ASSERT(again == x);
    RC_ASSERT(std::fabs(again - x) <=
              1e-8 * domain.sd + 1e-15 * std::fabs(domain.mean) + domain.q.value_or(0));
  }));
}

TEST_CASE("space property: lists of any length, every member") {
  Hold(rc::check([] {
    const auto size = *rc::gen::inRange<int64_t>(1, 300);
    std::vector<ParamValue> values;
    for (int64_t i = 0; i < size; ++i) values.emplace_back(i);
    const Domain domain = CategoricalDomain{values};
    for (const ParamValue& value : values) {
      RC_ASSERT(FromUnit(domain, ToUnit(domain, value).value()) == value);
    }
  }));
}

}  // namespace
}  // namespace hyperopt

#include "search/mutation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

namespace hyperopt {
namespace {

// Never drawn anew, always by this factor.
PbtOptions By(double factor) {
  PbtOptions options;
  options.resample_probability = 0;
  options.perturbation_factors = {factor, factor};
  return options;
}

ParamValue One(const Domain& domain,
               const PbtOptions& options,
               const ParamValue& value) {
  Rng rng(1, TrialId(2), "one");
  return MutateValue(domain, options, value, rng);
}

TEST_SUITE_BEGIN("mutation");

TEST_CASE("a number moves by the factor and stays inside its range") {
  const FloatDomain lr{1e-4, 1e-1, true, {}};
  CHECK(std::get<double>(One(lr, By(1.25), 0.01)) == doctest::Approx(0.0125));
  CHECK(One(lr, By(1.2), 0.09) == ParamValue(0.1));
  CHECK(One(lr, By(0.8), 1e-4) == ParamValue(1e-4));
  // A range that holds zero: by as large a part of the range.
  const FloatDomain shift{-1, 1, false, {}};
  CHECK(std::get<double>(One(shift, By(1.2), 0.0)) == doctest::Approx(0.4));
  CHECK(One(shift, By(0.8), -0.9) == ParamValue(-1.0));
}

TEST_CASE("steps are kept to, and a move is at least a step") {
  const IntDomain layers{1, 9, false, 2};
  CHECK(One(layers, By(1.2), int64_t{3}) == ParamValue(int64_t{5}));
  CHECK(One(layers, By(0.8), int64_t{3}) == ParamValue(int64_t{1}));
  CHECK(One(layers, By(1.2), int64_t{9}) == ParamValue(int64_t{9}));
  const FloatDomain dropout{0, 0.9, false, 0.1};
  CHECK(One(dropout, By(1.01), 0.3) == ParamValue(0.4));
  const IntDomain units{16, 1024, true, 1};
  CHECK(One(units, By(1.5), int64_t{100}) == ParamValue(int64_t{150}));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const IntDomain endless{-kMost, kMost, false, 1};
  CHECK(ToUnit(endless, One(endless, By(1.2), int64_t{5})));
}

TEST_CASE("a category becomes a neighbour of it") {
  const CategoricalDomain sizes{{int64_t{16}, int64_t{32}, int64_t{64}}};
  CHECK(One(sizes, By(1), int64_t{16}) == ParamValue(int64_t{32}));
  CHECK(One(sizes, By(1), int64_t{64}) == ParamValue(int64_t{32}));
  std::set<ParamValue> seen;
  for (int64_t child = 0; child < 40; ++child) {
    Rng rng(1, TrialId(child), "one");
    seen.insert(MutateValue(sizes, By(1), int64_t{32}, rng));
  }
  CHECK(seen == std::set<ParamValue>{int64_t{16}, int64_t{64}});
  CHECK(One(CategoricalDomain{{true}}, By(1), true) == ParamValue(true));
}

TEST_CASE("every value lies in its domain, as the same for the same key") {
  const SearchSpace space({{"a", FloatDomain{1e-5, 1, true, {}}},
                           {"b", IntDomain{-4, 7, false, 3}},
                           {"c", CategoricalDomain{{std::string("x"), true, 1.5}}},
                           {"d", NormalDomain{0, 1, 0.5}},
                           {"e", FloatDomain{1, 8, true, 0.5}},
                           {"f", NormalDomain{2, 3, {}}}});
  PbtOptions options;
  Params params = {
      {"a", 0.1}, {"b", int64_t{-4}}, {"c", true}, {"d", 0.5}, {"e", 1.5}, {"f", 2.0}};
  std::set<Params> seen;
  for (int64_t child = 0; child < 2'000; ++child) {
    const Params next = Mutate(space, options, params, 3, TrialId(child));
    CHECK_FALSE(space.ProblemWith(next));
    CHECK(next == Mutate(space, options, params, 3, TrialId(child)));
    params = next;
    seen.insert(next);
  }
  CHECK(seen.size() > 1'000);
}

TEST_CASE("what is not named, and what lies outside, stays as it is") {
  const SearchSpace space(
      {{"a", FloatDomain{0, 1, false, {}}}, {"b", FloatDomain{0, 1, false, {}}}});
  PbtOptions options = By(1.2);
  options.mutations = {"b"};
  const Params child = Mutate(space, options, {{"a", 0.5}, {"b", 0.5}}, 1, TrialId(7));
  CHECK(child.at("a") == ParamValue(0.5));
  CHECK(child.at("b") != ParamValue(0.5));
  CHECK(Mutate(space, options, {{"a", 0.5}, {"b", 3.0}}, 1, TrialId(7)).at("b") ==
        ParamValue(3.0));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

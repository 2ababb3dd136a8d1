#include "search/report/importance.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "trial/rng.h"

namespace hyperopt {
namespace {

SearchSpace Space() {
  return SearchSpace(
      {{"lr", FloatDomain{1e-5, 1e-1, true, {}}},
       {"x", FloatDomain{0, 1, false, {}}},
       {"layers", IntDomain{1, 8, false, 1}},
       {"opt", CategoricalDomain{{std::string("sgd"), std::string("adam")}}}});
}

struct Sample {
  std::vector<Params> params;
  std::vector<Objective> values;
};

// Trials of the space, each with the value that `of` gives it.
template <typename Value>
Sample Draw(const SearchSpace& space, int64_t count, Value of) {
  Sample sample;
  for (int64_t i = 0; i < count; ++i) {
    Rng rng(7, TrialId(i), "test");
    Params params;
    for (const Parameter& parameter : space.parameters()) {
      params[parameter.name] = hyperopt::Draw(parameter.domain, rng);
    }
    sample.values.push_back(Objective::Of(of(params)));
    sample.params.push_back(std::move(params));
  }
  return sample;
}

double Number(const Params& params, const char* name) {
  return std::get<double>(params.at(name));
}

Importance Of(const Sample& sample, Goal goal = Goal::kMinimize) {
  return ImportanceOf(Space(), goal, sample.params, sample.values);
}

TEST_SUITE("importance") {
  TEST_CASE("the parameter that decides gets nearly all, in its own scale") {
    const Sample sample = Draw(Space(), 400, [](const Params& params) {
      return std::abs(std::log10(Number(params, "lr")) + 3);
    });
    const Importance found = Of(sample);
    REQUIRE(found.shares.size() == 4);
    CHECK(found.used == 400);
    CHECK(found.top == 40);
    CHECK(found.shares[0] > 0.85);
    CHECK(std::accumulate(found.shares.begin(), found.shares.end(), 0.0) ==
          doctest::Approx(1));
  }

  TEST_CASE("a category that decides is found, whichever way the metric goes") {
    const auto value = [](const Params& params) {
      return std::get<std::string>(params.at("opt")) == "adam"
                 ? 1 + Number(params, "x")
                 : 5 + Number(params, "x");
    };
    for (const Goal goal : {Goal::kMinimize, Goal::kMaximize}) {
      const Importance found = Of(Draw(Space(), 300, value), goal);
      REQUIRE(found.shares.size() == 4);
      // x decides among those with the better optimizer.
      CHECK(found.shares[3] > found.shares[0]);
      CHECK(found.shares[3] > found.shares[2]);
      CHECK(found.shares[1] > found.shares[2]);
    }
  }

  TEST_CASE("a density on a grid is what the formula says") {
    // Categories only, so that it can be reckoned by hand: ten trials, of which the one
    // best has category 0; six of all have it. p = (1 + 1/2)/2, q = (6 + 1/2)/11.
    const SearchSpace space({{"c", CategoricalDomain{{int64_t{0}, int64_t{1}}}},
                             {"d", CategoricalDomain{{int64_t{0}, int64_t{1}}}}});
    std::vector<Params> params;
    std::vector<Objective> values;
    for (int64_t i = 0; i < 10; ++i) {
      params.push_back({{"c", int64_t{i < 6 ? 0 : 1}}, {"d", int64_t{i % 2}}});
      values.push_back(Objective::Of(static_cast<double>(i)));
    }
    const auto pd = [](double p, double q) {
      return (p - q) * (p - q) / q + (p - q) * (p - q) / (1 - q);
    };
    const double c = pd(0.75, 6.5 / 11), d = pd(0.75, 5.5 / 11);
    const Importance found = ImportanceOf(space, Goal::kMinimize, params, values);
    REQUIRE(found.shares.size() == 2);
    CHECK(found.top == 1);
    CHECK(found.shares[0] == doctest::Approx(c / (c + d)));
  }

  TEST_CASE("a parameter that few of the best have weighs less than its density") {
    Sample sample =
        Draw(Space(), 200, [](const Params& params) { return Number(params, "x"); });
    for (size_t i = 0; i < sample.params.size(); ++i) {
      if (sample.values[i].value < 0.2) sample.params[i].erase("lr");
    }
    const Importance found = Of(sample);
    REQUIRE(found.shares.size() == 4);
    CHECK(found.shares[0] == 0);
    CHECK(found.shares[1] > 0.8);
  }

  TEST_CASE("nothing is said of few trials, equal ones, and ones without a value") {
    const auto constant = [](const Params&) { return 1.0; };
    const Importance few = Of(Draw(Space(), 9, constant));
    CHECK(few.shares.empty());
    CHECK(few.why.find("9 of the 10") != std::string::npos);

    const Importance equal = Of(Draw(Space(), 50, constant));
    CHECK(equal.shares.empty());
    CHECK(equal.why.find("equally good") != std::string::npos);

    Sample none = Draw(Space(), 50, constant);
    for (Objective& value : none.values) {
      value = Objective::Of(std::numeric_limits<double>::quiet_NaN());
    }
    CHECK(Of(none).used == 0);
    CHECK(Of({}).shares.empty());
  }
}

}  // namespace
}  // namespace hyperopt

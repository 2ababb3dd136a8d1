#include "samplers/surrogate.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "trial/rng.h"

namespace hyperopt {
namespace {

const SearchSpace kSpace({{"x", FloatDomain{-2, 2}},
                          {"lr", FloatDomain{1e-5, 1e-1, true}},
                          {"opt", CategoricalDomain{{"sgd", "adam"}}},
                          {"only", IntDomain{3, 3}}});

struct Sweep {
  std::vector<Params> params;
  std::vector<Objective> values;
};

double Truth(double x, double lr, bool adam) {
  return x * x + std::pow(std::log10(lr) + 3, 2) + (adam ? 0 : 2);
}

Sweep Drawn(int count, double sign = 1) {
  Sweep sweep;
  for (int i = 0; i < count; ++i) {
    Rng rng(7, TrialId(i), "test");
    Params params;
    for (const Parameter& each : kSpace.parameters()) {
      params[each.name] = Draw(each.domain, rng);
    }
    sweep.values.push_back(
        Objective::Of(sign * Truth(std::get<double>(params["x"]),
                                   std::get<double>(params["lr"]),
                                   params["opt"] == ParamValue("adam"))));
    sweep.params.push_back(std::move(params));
  }
  return sweep;
}

Params At(double x, double lr, const char* opt) {
  return {{"x", x}, {"lr", lr}, {"opt", opt}, {"only", int64_t{3}}};
}

TEST_SUITE("surrogate") {
  TEST_CASE("it finds what was there, in the metric's own units, whatever the goal") {
    for (const double sign : {1.0, -1.0}) {
      CAPTURE(sign);
      const Sweep sweep = Drawn(80, sign);
      const Surrogate model(kSpace,
                            sign > 0 ? Goal::kMinimize : Goal::kMaximize,
                            sweep.params,
                            sweep.values);
      REQUIRE(model.why() == "");
      CHECK(model.used() == 80);
      for (const double x : {-1.5, 0.0, 1.0}) {
        const std::vector<Estimate> at = model.Around(At(x, 1e-3, "adam"), {});
        REQUIRE(at.size() == 1);
        CHECK(sign * at[0].middle ==
              doctest::Approx(Truth(x, 1e-3, true)).epsilon(0.1).scale(2));
        CHECK(at[0].low <= at[0].middle);
        CHECK(at[0].middle <= at[0].high);
      }
    }
  }

  TEST_CASE("the first of what is varied changes fastest; middles are the same") {
    const Sweep sweep = Drawn(60);
    const Surrogate model(kSpace, Goal::kMinimize, sweep.params, sweep.values);
    const std::vector<Variation> varied = {{0, {-1.0, 0.0, 1.0}}, {2, {"sgd", "adam"}}};
    const std::vector<Estimate> grid = model.Around(At(2, 1e-2, "sgd"), varied);
    const std::vector<double> middles = model.Middles(At(2, 1e-2, "sgd"), varied);
    REQUIRE(grid.size() == 6);
    REQUIRE(middles.size() == 6);
    for (size_t i = 0; i < grid.size(); ++i) {
      const Params at =
          At(std::get<double>(varied[0].values[i % 3]), 1e-2, i < 3 ? "sgd" : "adam");
      CHECK(grid[i].middle == doctest::Approx(model.Around(at, {})[0].middle));
      CHECK(middles[i] == doctest::Approx(grid[i].middle));
    }
    CHECK(grid[1].middle > grid[4].middle + 1);
  }

  TEST_CASE("it knows where nobody was") {
    Sweep sweep = Drawn(200);
    Sweep near;
    for (size_t i = 0; i < sweep.params.size(); ++i) {
      if (std::get<double>(sweep.params[i].at("x")) > 0) continue;
      near.params.push_back(sweep.params[i]);
      near.values.push_back(sweep.values[i]);
    }
    const Surrogate model(kSpace, Goal::kMinimize, near.params, near.values);
    const auto width = [&](double x) {
      const Estimate at = model.Around(At(x, 1e-3, "adam"), {})[0];
      return at.high - at.low;
    };
    CHECK(width(1.9) > 2 * width(-1));
  }

  TEST_CASE("what is not finite, absent or unknown is left out, and nothing explodes") {
    Sweep sweep = Drawn(30);
    sweep.values[0] = Objective::Of(std::nan(""));
    sweep.values[1] = Objective::Missing();
    sweep.values[2] = Objective::Of(std::numeric_limits<double>::infinity());
    sweep.params[3].erase("x");
    sweep.params[4]["opt"] = "unknown";
    sweep.values[5] = Objective::Of(1e308);
    sweep.values[6] = Objective::Of(-1e308);
    const Surrogate model(kSpace, Goal::kMinimize, sweep.params, sweep.values);
    CHECK(model.usable() == 25);
    std::vector<ParamValue> places;
    for (int i = 0; i <= 20; ++i) places.emplace_back(-2 + 0.2 * i);
    const std::vector<Variation> varied = {{0, places}};
    for (const Estimate& each : model.Around(At(0, 1e-3, "adam"), varied)) {
      CHECK(std::isfinite(each.low));
      CHECK(std::isfinite(each.middle));
      CHECK(std::isfinite(each.high));
    }
    CHECK(model.Around({{"x", 0.5}}, {}).empty());
    CHECK(model.Middles({{"x", 0.5}}, {}).empty());
    CHECK(model.Knows(0));
    CHECK(!model.Knows(3));
  }

  TEST_CASE("values of many sizes are told apart, and keep their sign") {
    for (const double sign : {1.0, -1.0}) {
      CAPTURE(sign);
      Sweep sweep = Drawn(60);
      for (size_t i = 0; i < sweep.params.size(); ++i) {
        const double x = std::get<double>(sweep.params[i].at("x"));
        sweep.values[i] = Objective::Of(sign * std::pow(10.0, 3 * x));
      }
      const Surrogate model(kSpace, Goal::kMinimize, sweep.params, sweep.values);
      const Estimate low = model.Around(At(-1.5, 1e-3, "adam"), {})[0];
      CHECK(std::log10(sign * low.middle) == doctest::Approx(-4.5).epsilon(0.1));
      CHECK(sign * low.low >= 0);
      CHECK(sign * low.high >= 0);
      CHECK(low.low <= low.middle);
      CHECK(low.middle <= low.high);
      const Estimate high = model.Around(At(1.5, 1e-3, "adam"), {})[0];
      CHECK(std::log10(sign * high.middle) == doctest::Approx(4.5).epsilon(0.15));
    }
  }

  TEST_CASE("it says why it says nothing") {
    const Sweep few = Drawn(9);
    CHECK(Surrogate(kSpace, Goal::kMinimize, few.params, few.values).why() ==
          "Too few trials have a value: 9 of the 10 it takes.");
    Sweep equal = Drawn(20);
    for (Objective& value : equal.values) value = Objective::Of(0);
    CHECK(Surrogate(kSpace, Goal::kMinimize, equal.params, equal.values).why() ==
          "All trials with a value are equally good.");
    const SearchSpace fixed({{"only", IntDomain{3, 3}}});
    CHECK(Surrogate(fixed, Goal::kMinimize, {}, {}).why() ==
          "No parameter has more than one value.");
    CHECK(Surrogate(kSpace, Goal::kMinimize, {}, {}).why() ==
          "Too few trials have a value: 0 of the 10 it takes.");
  }

  TEST_CASE("of many the best are known, and some of the others") {
    const Sweep sweep = Drawn(2000);
    const Surrogate model(kSpace, Goal::kMinimize, sweep.params, sweep.values);
    CHECK(model.usable() == 2000);
    CHECK(model.used() == 256);
    CHECK(model.Around(At(0, 1e-3, "adam"), {})[0].middle ==
          doctest::Approx(0).scale(1).epsilon(0.15));
    const double worst = model.Around(At(-2, 1e-1, "sgd"), {})[0].middle;
    CHECK(worst > 4);
    CHECK(worst < 12);
  }

  TEST_CASE("one that takes part sometimes is varied all the same") {
    const SearchSpace space({{"opt", CategoricalDomain{{"sgd", "adam"}}},
                             {"momentum", FloatDomain{0, 1}, {{"opt", {"sgd"}}}}});
    Sweep sweep;
    for (int i = 0; i < 40; ++i) {
      Rng rng(3, TrialId(i), "test");
      const double momentum = rng.Uniform();
      const bool sgd = i % 2 == 0;
      sweep.params.push_back({{"opt", sgd ? "sgd" : "adam"}});
      if (sgd) sweep.params.back()["momentum"] = momentum;
      sweep.values.push_back(Objective::Of(sgd ? std::fabs(momentum - 0.8) : 0.5));
    }
    const Surrogate model(space, Goal::kMinimize, sweep.params, sweep.values);
    const std::vector<Variation> varied = {{1, {0.1, 0.8}}};
    const std::vector<double> at = model.Middles({{"opt", "sgd"}}, varied);
    REQUIRE(at.size() == 2);
    CHECK(at[0] > at[1] + 0.3);
  }
}

}  // namespace
}  // namespace hyperopt

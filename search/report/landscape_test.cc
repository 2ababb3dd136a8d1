#include "search/report/landscape.h"

#include <doctest/doctest.h>

#include <cmath>

#include "trial/rng.h"

namespace hyperopt {
namespace {

struct Trials {
  std::vector<Params> params;
  std::vector<Objective> values;
};

template <typename Value>
Trials Drawn(const SearchSpace& space, int count, Value value) {
  Trials trials;
  for (int i = 0; i < count; ++i) {
    Rng rng(11, TrialId(i), "test");
    Params params;
    for (const Parameter& each : space.parameters()) {
      params[each.name] = Draw(each.domain, rng);
    }
    params = space.Active(std::move(params));
    trials.values.push_back(Objective::Of(value(params)));
    trials.params.push_back(std::move(params));
  }
  return trials;
}

double Number(const Params& params, const char* name) {
  return std::get<double>(params.at(name));
}

TEST_SUITE("landscape") {
  TEST_CASE("a line along each parameter and a map of each pair, at the best trial") {
    const SearchSpace space({{"x", FloatDomain{-1, 1}},
                             {"lr", FloatDomain{1e-4, 1, true}},
                             {"layers", IntDomain{1, 4}},
                             {"opt", CategoricalDomain{{"a", "b", "c"}}},
                             {"noise", NormalDomain{0, 1}}});
    const Trials trials = Drawn(space, 60, [](const Params& params) {
      return Number(params, "x") * Number(params, "x") +
             (params.at("opt") == ParamValue("b") ? 0 : 1);
    });
    const std::vector<double> shares = {0.3, 0.05, 0.04, 0.6, 0.01};
    const Landscape landscape =
        LandscapeOf(space, Goal::kMinimize, trials.params, trials.values, shares);
    CHECK(landscape.why == "");
    CHECK(landscape.used == 60);
    size_t best = 0;
    for (size_t i = 0; i < 60; ++i) {
      if (trials.values[i].value < trials.values[best].value) best = i;
    }
    REQUIRE(landscape.slices.size() == 5);
    CHECK(landscape.slices[0].parameter == 3);
    CHECK(landscape.slices[1].parameter == 0);
    for (const LandscapeSlice& slice : landscape.slices) {
      CHECK(slice.base == best);
      CHECK(slice.values.size() == slice.at.size());
    }
    CHECK(landscape.slices[0].at ==
          std::vector<ParamValue>{ParamValue("a"), ParamValue("b"), ParamValue("c")});
    CHECK(landscape.slices[0].values[1].middle <
          landscape.slices[0].values[0].middle - 0.5);
    const LandscapeSlice& x = landscape.slices[1];
    CHECK(x.at.size() == kSlicePlaces);
    CHECK(std::get<double>(x.at.front()) == -1.0);
    CHECK(std::get<double>(x.at.back()) == doctest::Approx(1.0));
    CHECK(x.values.front().middle > x.values[kSlicePlaces / 2].middle + 0.5);
    REQUIRE(landscape.axes.size() == 5);
    REQUIRE(landscape.maps.size() == 10);
    CHECK(landscape.maps[0].x == 0);
    CHECK(landscape.maps[0].y == 1);
    CHECK(landscape.maps[0].middles.size() == 3 * kMapPlaces);
    for (const LandscapeMap& map : landscape.maps) {
      CHECK(map.middles.size() ==
            landscape.axes[map.x].at.size() * landscape.axes[map.y].at.size());
      for (const double middle : map.middles) CHECK(std::isfinite(middle));
    }
  }

  TEST_CASE("of what takes part sometimes the base is a trial that has it") {
    const SearchSpace space({{"opt", CategoricalDomain{{"sgd", "adam"}}},
                             {"momentum", FloatDomain{0, 1}, {{"opt", {"sgd"}}}}});
    const Trials trials = Drawn(space, 40, [](const Params& params) {
      return params.contains("momentum") ? 1 + Number(params, "momentum") : 0.0;
    });
    const Landscape landscape =
        LandscapeOf(space, Goal::kMinimize, trials.params, trials.values, {});
    REQUIRE(landscape.slices.size() == 2);
    const size_t base = landscape.slices[1].base;
    CHECK(trials.params[base].contains("momentum"));
    CHECK(!trials.params[landscape.slices[0].base].contains("momentum"));
    REQUIRE(landscape.maps.size() == 1);
    CHECK(landscape.maps[0].base == base);
  }

  TEST_CASE("it stays small, whatever the space") {
    std::vector<Parameter> parameters;
    for (int k = 0; k < 40; ++k) {
      parameters.push_back({"p" + std::to_string(k), FloatDomain{0, 1}});
    }
    std::vector<ParamValue> many;
    for (int64_t k = 0; k < 500; ++k) many.emplace_back(k);
    parameters.insert(parameters.begin(), {"list", CategoricalDomain{many}});
    parameters.insert(parameters.begin(), {"one", IntDomain{5, 5}});
    const SearchSpace space(parameters);
    const Trials trials =
        Drawn(space, 50, [](const Params& params) { return Number(params, "p0"); });
    const Landscape landscape =
        LandscapeOf(space, Goal::kMaximize, trials.params, trials.values, {});
    CHECK(landscape.slices.size() == kMostSlices);
    CHECK(landscape.slices[0].parameter == 1);
    CHECK(landscape.slices[0].at.size() == kMostCategories);
    CHECK(landscape.axes.size() == kMostMapAxes);
    CHECK(landscape.maps.size() == kMostMapAxes * (kMostMapAxes - 1) / 2);
  }

  TEST_CASE("where there is no model it says why") {
    const SearchSpace space({{"x", FloatDomain{-1, 1}}});
    const Landscape none = LandscapeOf(space, Goal::kMinimize, {}, {}, {});
    CHECK(none.why == "Too few trials have a value: 0 of the 10 it takes.");
    CHECK(none.slices.empty());
    const Trials trials =
        Drawn(space, 20, [](const Params& params) { return -Number(params, "x"); });
    const Landscape one =
        LandscapeOf(space, Goal::kMinimize, trials.params, trials.values, {});
    CHECK(one.slices.size() == 1);
    CHECK(one.maps.empty());
  }
}

}  // namespace
}  // namespace hyperopt

// A list of settings: rows in their order, what a row leaves open drawn.
#include <doctest/doctest.h>

#include <set>

#include "samplers/sampler.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

const SearchSpace& Space() {
  static const SearchSpace space({{"lr", FloatDomain{.lower = 0, .upper = 1}},
                                  {"n", IntDomain{.lower = 1, .upper = 9}},
                                  {"g", GridDomain{{1.0, 2.0}}}});
  return space;
}

SamplerOptions ListOf(std::vector<Params> rows, int64_t samples) {
  SamplerOptions options;
  options.kind = SamplerKind::kList;
  options.num_samples = samples;
  options.rows = std::move(rows);
  return options;
}

TEST_SUITE_BEGIN("list");

TEST_CASE("trial i is row i, in the types of the space") {
  const auto sampler =
      MakeSampler(Space(),
                  ListOf({{{"lr", int64_t{1}}, {"n", int64_t{3}}, {"g", 2.0}},
                          {{"lr", 0.5}, {"n", int64_t{3}}, {"g", 1.0}},
                          {{"lr", 0.5}, {"n", int64_t{3}}, {"g", 1.0}}},
                         3));
  CHECK(sampler->TrialCount() == 3);
  CHECK_FALSE(sampler->needs_history());
  CHECK(sampler->Suggest(TrialId(0), {}) ==
        Params{{"g", 2.0}, {"lr", 1.0}, {"n", int64_t{3}}});
  // A row that is written twice runs twice.
  CHECK(sampler->Suggest(TrialId(1), {}) == sampler->Suggest(TrialId(2), {}));
  CHECK_FALSE(sampler->Suggest(TrialId(3), {}));
  CHECK_FALSE(sampler->Suggest(TrialId(-1), {}));
}

TEST_CASE("what a row leaves open is drawn, a grid's values too") {
  std::vector<Params> rows(200, Params{{"n", int64_t{3}}});
  const auto sampler = MakeSampler(Space(), ListOf(rows, 200));
  std::set<ParamValue> grid, rates;
  for (int64_t id = 0; id < 200; ++id) {
    const Params params = sampler->Suggest(TrialId(id), {}).value();
    CHECK_FALSE(Space().ProblemWith(params).has_value());
    CHECK(params.at("n") == ParamValue(int64_t{3}));
    grid.insert(params.at("g"));
    rates.insert(params.at("lr"));
  }
  CHECK(grid.size() == 2);
  CHECK(rates.size() == 200);
}

TEST_CASE("num_samples takes the first rows, and never more than there are") {
  const std::vector<Params> rows(5);
  CHECK(MakeSampler(Space(), ListOf(rows, 2))->TrialCount() == 2);
  CHECK(MakeSampler(Space(), ListOf(rows, 50))->TrialCount() == 5);
}

TEST_CASE("a list that can not be run is refused") {
  const auto problem = [](const SamplerOptions& options) {
    const auto problems = ProblemsWith(Space(), options);
    return problems.empty() ? "" : problems.front();
  };
  CHECK(problem(ListOf({}, 1)).find("no rows") != std::string::npos);
  CHECK(problem(ListOf({{}, {{"lr", 2.0}}}, 2)).starts_with("rows[1].lr"));
  CHECK(problem(ListOf({{{"nothing", 2.0}}}, 1)).starts_with("rows[0].nothing"));
  SamplerOptions with_points = ListOf({{}}, 1);
  with_points.points_to_evaluate = {{{"lr", 0.5}}};
  CHECK(problem(with_points).find("points_to_evaluate") != std::string::npos);
  CHECK_THROWS_AS(MakeSampler(Space(), with_points), ConfigError);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt

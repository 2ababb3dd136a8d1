#include "search/table_search.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

namespace hyperopt {
namespace {

Params At(double x) { return {{"x", x}}; }

SearchSpace Line() { return SearchSpace({{"x", FloatDomain{0, 10, false, {}}}}); }

SamplerOptions Kind(SamplerKind kind, int64_t samples) {
  SamplerOptions options;
  options.kind = kind;
  options.num_samples = samples;
  options.seed = 3;
  return options;
}

}  // namespace

TEST_CASE("a distance is of the ranges, and of all parameters together") {
  CHECK(DistanceBetween(Line(), At(2), At(2)) == 0);
  CHECK(DistanceBetween(Line(), At(2), At(7)) == doctest::Approx(0.5));
  const SearchSpace space({{"c", CategoricalDomain{{"a", "b"}}},
                           {"lr", FloatDomain{1e-4, 1, true, {}}},
                           {"m", FloatDomain{0, 1, false, {}}, {{"c", {"b"}}}}});
  const Params a = {{"c", "a"}, {"lr", 1e-3}};
  const Params far = {{"c", "b"}, {"lr", 1e-1}, {"m", 0.5}};
  CHECK(DistanceBetween(space, a, a) == 0);
  // Two decades of four; two that are not alike; one that takes part here alone.
  CHECK(DistanceBetween(space, a, far) ==
        doctest::Approx(std::sqrt((1 + 0.25 + 1) / 3.0)));
  CHECK(DistanceBetween(space, far, a) == DistanceBetween(space, a, far));
}

TEST_CASE("a proposal is answered with the nearest that is left, each once") {
  const SearchSpace space = Line();
  const SamplerOptions options = Kind(SamplerKind::kRandom, 100);
  const std::unique_ptr<Sampler> sampler = MakeSampler(space, options);
  std::vector<Params> table;
  for (int i = 0; i < 11; ++i) table.push_back(At(i));
  TableSearch search(space, options, table);
  std::set<size_t> left;
  for (size_t i = 0; i < table.size(); ++i) left.insert(i);
  double distances = 0;
  for (int64_t i = 0; i < 11; ++i) {
    CHECK(search.more());
    const double asked = std::get<double>(sampler->Suggest(TrialId(i), {})->at("x"));
    const std::optional<size_t> got = search.Next();
    REQUIRE(got);
    const double distance = std::abs(static_cast<double>(*got) - asked);
    for (const size_t other : left) {
      CHECK(distance <= std::abs(static_cast<double>(other) - asked));
    }
    distances += distance / 10;
    REQUIRE(left.erase(*got) == 1);
    search.Told(*got, {TrialState::kCompleted, Objective::Of(1), 1});
  }
  CHECK_FALSE(search.more());
  CHECK(search.Next() == std::nullopt);
  CHECK(search.mean_distance() == doctest::Approx(distances / 11));
}

TEST_CASE("a sampler that learns is told what the taken ones came to") {
  const SearchSpace space = Line();
  std::vector<Params> table;
  for (int i = 0; i <= 200; ++i) table.push_back(At(i / 20.0));
  TableSearch search(space, Kind(SamplerKind::kTpe, 201), table);
  int near = 0;
  for (int i = 0; i < 40; ++i) {
    const size_t got = *search.Next();
    const double x = static_cast<double>(got) / 20;
    search.Told(got, {TrialState::kCompleted, Objective::Of(std::abs(x - 7)), 1});
    if (i >= 20) near += std::abs(x - 7) < 1.5;
  }
  CHECK(near > 10);  // of 20, where chance would come to 6
}

}  // namespace hyperopt

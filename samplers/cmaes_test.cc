#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "samplers/sampler.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

using Objectives = std::function<double(const std::vector<double>&)>;

SearchSpace Box(int dimensions) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < dimensions; ++i) {
    parameters.push_back({"x" + std::to_string(i), FloatDomain{-5, 5}});
  }
  return SearchSpace(std::move(parameters));
}

// The best value after `count` trials, each ended before the next; -1 as a value fails.
double BestOf(const SearchSpace& space,
              SamplerKind kind,
              uint64_t seed,
              int64_t count,
              const Objectives& objective) {
  const auto sampler =
      MakeSampler(space, {.kind = kind, .seed = seed, .num_samples = count});
  History history;
  double best = INFINITY;
  for (int64_t i = 0; i < count; ++i) {
    HistoryEntry entry{.trial = TrialId(i), .state = TrialState::kCompleted};
    entry.params = sampler->Suggest(TrialId(i), history).value();
    std::vector<double> x;
    for (const auto& [name, value] : entry.params) {
      const auto* integer = std::get_if<int64_t>(&value);
      x.push_back(integer ? static_cast<double>(*integer) : std::get<double>(value));
    }
    entry.objective = Objective::Of(objective(x));
    best = std::fmin(best, entry.objective.AsDouble());
    history.ended.push_back(entry);
  }
  return best;
}

double Sphere(const std::vector<double>& x) {
  double sum = 0;
  for (const double each : x) sum += (each - 1.5) * (each - 1.5);
  return sum;
}

// Long and narrow, and along no axis.
double Turned(const std::vector<double>& x) {
  double sum = 0;
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    const double across = x[i] - x[i + 1], along = x[i] + x[i + 1] - 2;
    sum += 100 * across * across + along * along;
  }
  return sum;
}

TEST_CASE("cmaes: known optima") {
  for (const uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    CHECK(BestOf(Box(4), SamplerKind::kCmaes, seed, 300, Sphere) < 1e-3);
    const double turned = BestOf(Box(4), SamplerKind::kCmaes, seed, 800, Turned);
    CHECK(turned < 1e-2);
    CHECK(turned < BestOf(Box(4), SamplerKind::kRandom, seed, 800, Turned) / 100);
  }
}

TEST_CASE(
    "cmaes: integers, a narrow range, one dimension, and an optimum on the edge") {
  const SearchSpace integers(
      {{"n", IntDomain{.lower = 1, .upper = 40}}, {"x", FloatDomain{0, 3}}});
  const auto of_integers = [](const std::vector<double>& x) {
    return std::abs(x[0] - 31) + std::pow(x[1] - 1, 2);
  };
  CHECK(BestOf(integers, SamplerKind::kCmaes, 5, 200, of_integers) < 0.05);
  CHECK(BestOf(Box(1), SamplerKind::kCmaes, 5, 80, Sphere) < 1e-3);
  const auto edge = [](const std::vector<double>& x) { return 5 - x[0] + 5 - x[1]; };
  CHECK(BestOf(Box(2), SamplerKind::kCmaes, 5, 150, edge) < 0.1);
}

TEST_CASE("cmaes: where nothing can be told it goes on") {
  const auto nan = [](const std::vector<double>&) { return NAN; };
  const auto flat = [](const std::vector<double>&) { return 1.0; };
  const auto huge = [](const std::vector<double>& x) { return x[0] * 1e300; };
  CHECK(BestOf(Box(3), SamplerKind::kCmaes, 1, 60, flat) == 1.0);
  CHECK(BestOf(Box(3), SamplerKind::kCmaes, 1, 60, nan) == INFINITY);
  CHECK(BestOf(Box(3), SamplerKind::kCmaes, 1, 60, huge) < 0);
  // It shrinks to nothing, and begins anew.
  CHECK(BestOf(Box(1), SamplerKind::kCmaes, 1, 600, Sphere) < 1e-10);
}

TEST_CASE("cmaes: what it can not search is refused by name") {
  const SearchSpace mixed({{"x", FloatDomain{}},
                           {"optimizer", CategoricalDomain{{1.0, true}}},
                           {"m", FloatDomain{}, {{"optimizer", {true}}}}});
  const auto problems =
      ProblemsWith(mixed, {.kind = SamplerKind::kCmaes, .num_samples = 3});
  REQUIRE(problems.size() == 2);
  CHECK(problems[0] ==
        "optimizer: cmaes searches numbers alone, and this is one of 1.0, true: take "
        "auto, gp or tpe");
  CHECK(problems[1].find("some have `when`") != std::string::npos);
  CHECK(ProblemsWith(SearchSpace(), {.kind = SamplerKind::kCmaes, .num_samples = 3})
            .size() == 1);
}

}  // namespace
}  // namespace hyperopt

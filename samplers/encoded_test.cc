// Spaces as numbers, the even design, and objective values made fit for a model.
#include "samplers/internal/encoded.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "samplers/internal/output_warp.h"
#include "samplers/internal/sobol.h"
#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

SearchSpace Mixed() {
  return SearchSpace({
      {"rate", FloatDomain{.lower = 1e-5, .upper = 0.1, .log = true}},
      {"units", IntDomain{.lower = 8, .upper = 100, .log = true}},
      {"only", IntDomain{.lower = 3, .upper = 3}},
      {"wide", IntDomain{.lower = INT64_MIN, .upper = INT64_MAX}},
      {"word", CategoricalDomain{{std::string("a"), int64_t{1}, true}}},
      {"step", FloatDomain{.lower = 0, .upper = 0.9, .step = 0.1}},
  });
}

TEST_CASE("an encoding leaves out what can not vary and keeps every value") {
  const SearchSpace space = Mixed();
  const Encoding encoding(space);
  CHECK(encoding.size() == 5);
  CHECK_FALSE(encoding.cells().has_value());
  Rng rng(1, TrialId(0), "encoding");
  for (int i = 0; i < 200; ++i) {
    Params params;
    for (const Parameter& parameter : space.parameters()) {
      params[parameter.name] = Draw(parameter.domain, rng);
    }
    const auto row = encoding.ToRow(params);
    REQUIRE(row.has_value());
    const Params back = encoding.ToParams(*row);
    for (const char* name : {"units", "only", "word", "step"}) {
      CAPTURE(name);
      CHECK(back.at(name) == params.at(name));
    }
    CHECK(std::get<double>(back.at("rate")) ==
          doctest::Approx(std::get<double>(params.at("rate"))).epsilon(1e-9));
  }
}

TEST_CASE("cells of an ordered axis are those that a uniform draw fills") {
  const SearchSpace space = Mixed();
  const Encoding encoding(space);
  const Axis& axis = encoding.axes()[1];
  REQUIRE(axis.kind == AxisKind::kOrdered);
  const Domain& domain = space.parameters()[axis.parameter].domain;
  for (int64_t k = 0; k < axis.levels; ++k) {
    const auto at = static_cast<size_t>(k);
    const double width = axis.edges[at + 1] - axis.edges[at];
    REQUIRE(width > 0);
    for (double share : {0.001, 0.5, 0.999}) {
      CHECK(FromUnit(domain, axis.edges[at] + share * width) == ValueAt(domain, k));
    }
  }
}

TEST_CASE("history that does not fit is left out, what failed or is NaN has failed") {
  const SearchSpace space({{"x", FloatDomain{}}});
  const Encoding encoding(space);
  Observations seen(encoding, Goal::kMaximize);
  const auto entry = [](int64_t id, TrialState state, double x, double value) {
    return HistoryEntry{TrialId(id), state, {{"x", x}}, Objective::Of(value), 5};
  };
  History history;
  history.ended = {entry(0, TrialState::kCompleted, 0.25, 2),
                   entry(1, TrialState::kCompleted, 0.5, NAN),
                   entry(2, TrialState::kFailed, 0.5, 3),
                   entry(3, TrialState::kStopped, 0.75, 1),
                   entry(4, TrialState::kCompleted, 7, 1)};
  seen.Update(history);
  REQUIRE(seen.ended().size() == 4);
  CHECK(seen.ended()[0].outcome == Outcome::kValue);
  CHECK(seen.ended()[0].value == -2);
  CHECK(seen.ended()[1].outcome == Outcome::kFailed);
  CHECK(seen.ended()[2].outcome == Outcome::kFailed);
  CHECK(seen.ended()[3].outcome == Outcome::kPruned);
  const int64_t generation = seen.generation();
  history.ended.push_back(entry(5, TrialState::kCompleted, 0.1, 1));
  seen.Update(history);
  CHECK(seen.generation() == generation);
  history.ended[0].objective = Objective::Of(9);
  seen.Update(history);
  CHECK(seen.generation() != generation);
  CHECK(seen.ended()[0].value == -9);
}

TEST_CASE("each dimension of the even design meets every cell once") {
  for (size_t dimension : {0, 1, 2, 7, 20, 21, 40}) {
    CAPTURE(dimension);
    std::set<int> cells;
    for (uint64_t i = 0; i < 64; ++i) {
      const double u = SobolPoint(i, dimension + 1, 9)[dimension];
      REQUIRE(u >= 0);
      REQUIRE(u < 1);
      cells.insert(static_cast<int>(u * 64));
    }
    CHECK(cells.size() == 64);
  }
}

TEST_CASE("the first two dimensions of the even design fill every rectangle") {
  for (int k = 0; k <= 6; ++k) {
    const int columns = 1 << k, rows = 64 / columns;
    std::set<std::pair<int, int>> cells;
    for (uint64_t i = 0; i < 64; ++i) {
      const auto u = SobolPoint(i, 2, 3);
      cells.insert({static_cast<int>(u[0] * columns), static_cast<int>(u[1] * rows)});
    }
    CHECK(cells.size() == 64);
  }
}

std::vector<Observation> Values(const std::vector<double>& values) {
  std::vector<Observation> ended;
  for (double v : values) ended.push_back({{}, Outcome::kValue, v, 1});
  return ended;
}

TEST_CASE("warped values keep their order, and stay finite at the ends of doubles") {
  auto ended = Values({3, 1, 2, 1e300, -1e300, 5, 1.5, 2.5, 1e308, -1e308});
  ended.push_back({{}, Outcome::kFailed, 0, 0});
  const std::vector<double> warped = WarpOutputs(ended);
  for (size_t a = 0; a < ended.size(); ++a) {
    REQUIRE(std::isfinite(warped[a]));
    CHECK(warped[a] <= warped.back());
    for (size_t b = 0; b + 1 < ended.size(); ++b) {
      if (a + 1 < ended.size() && ended[a].value < ended[b].value) {
        CHECK(warped[a] <= warped[b]);
      }
    }
  }
}

TEST_CASE("one divergence does not flatten the rest, and is as bad as a failure") {
  auto ended = Values({1, 2, 3, 4, 5, 6, 1e300});
  ended.push_back({{}, Outcome::kFailed, 0, 0});
  const std::vector<double> warped = WarpOutputs(ended);
  for (size_t i = 0; i < 6; ++i) CHECK(warped[i] + 0.02 < warped[i + 1]);
  CHECK(warped[6] == warped[7]);
}

TEST_CASE("where no value is better than the median the worse ones are told by rank") {
  const std::vector<double> warped = WarpOutputs(Values({1, 1, 1, 1, 1, 7, 9, 1e300}));
  CHECK(warped[0] == warped[4]);
  for (size_t i = 4; i + 1 < warped.size(); ++i) CHECK(warped[i] < warped[i + 1]);
}

TEST_CASE("values that say nothing are all 0") {
  for (const double v : WarpOutputs(Values({4, 4, 4}))) CHECK(v == 0);
  for (const double v : WarpOutputs(Values({4}))) CHECK(v == 0);
  CHECK(WarpOutputs({}).empty());
}

TEST_CASE(
    "Yeo-Johnson increases, is the identity at 1 and finds a skewed sample's log") {
  for (double power : {-1.0, 0.0, 0.5, 1.0, 2.0, 3.0}) {
    CAPTURE(power);
    double before = -std::numeric_limits<double>::infinity();
    for (double y = -3; y <= 3; y += 0.1) {
      const double now = YeoJohnson(y, power);
      CHECK(now > before);
      before = now;
      if (power == 1.0) CHECK(now == doctest::Approx(y));
    }
  }
  std::vector<double> skewed;
  for (int i = 1; i < 100; ++i)
    skewed.push_back(std::expm1(NormalQuantile(i / 100.0) + 3));
  CHECK(std::fabs(ChooseYeoJohnson(skewed)) < 0.25);
}

}  // namespace
}  // namespace hyperopt::internal

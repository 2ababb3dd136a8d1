#include "trial/pareto.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "trial/rng.h"

namespace hyperopt {
namespace {

TEST_CASE("what dominates what") {
  CHECK(Dominates({1, 2}, {1, 3}));
  CHECK(Dominates({1, 2}, {2, 3}));
  CHECK_FALSE(Dominates({1, 2}, {1, 2}));
  CHECK_FALSE(Dominates({1, 4}, {2, 3}));
}

TEST_CASE("ranks by hand") {
  const std::vector<Point> points = {{1, 5}, {2, 2}, {5, 1}, {3, 3}, {6, 6}, {2, 2}};
  CHECK(ParetoRanks(points) == std::vector<int>{0, 0, 0, 1, 2, 0});
  CHECK(ParetoRanks({}).empty());
  CHECK(ParetoRanks(std::vector<Point>{{1, 1, 1}}) == std::vector<int>{0});
}

// By the definition: peel the points that no other of those left dominates.
std::vector<int> Peeled(const std::vector<Point>& points) {
  std::vector<int> ranks(points.size(), -1);
  for (int rank = 0;; ++rank) {
    std::vector<size_t> front;
    for (size_t i = 0; i < points.size(); ++i) {
      if (ranks[i] >= 0) continue;
      bool beaten = false;
      for (size_t k = 0; k < points.size(); ++k) {
        beaten = beaten || (ranks[k] < 0 && Dominates(points[k], points[i]));
      }
      if (!beaten) front.push_back(i);
    }
    if (front.empty()) return ranks;
    for (const size_t i : front) ranks[i] = rank;
  }
}

TEST_CASE("ranks of many points are those of the definition") {
  for (int64_t round = 0; round < 50; ++round) {
    Rng rng(7, TrialId(round), "points");
    std::vector<Point> points(40, Point(2 + static_cast<size_t>(round % 3)));
    for (Point& point : points) {
      // Few values, so that many are equal.
      for (double& x : point) x = static_cast<double>(rng.Below(6));
    }
    const std::vector<int> ranks = ParetoRanks(points);
    CHECK(ranks == Peeled(points));
    std::vector<size_t> front;
    for (size_t i = 0; i < points.size(); ++i) {
      if (ranks[i] == 0) front.push_back(i);
    }
    CHECK(ParetoFrontOf(points) == front);
  }
}

TEST_CASE("crowding: the ends are alone, the middle by its gaps") {
  const std::vector<Point> points = {{0, 4}, {1, 3}, {3, 1}, {4, 0}, {9, 9}};
  const std::vector<int> ranks = ParetoRanks(points);
  const std::vector<double> distances = CrowdingDistances(points, ranks);
  CHECK(std::isinf(distances[0]));
  CHECK(std::isinf(distances[3]));
  CHECK(std::isinf(distances[4]));
  CHECK(distances[1] == doctest::Approx(0.75 + 0.75));
  CHECK(distances[2] == doctest::Approx(0.75 + 0.75));
}

}  // namespace
}  // namespace hyperopt

// Volumes against counting, expected gains against Monte Carlo and quadrature,
// derivatives against differences.
#include "samplers/internal/hypervolume.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "samplers/internal/acquisition.h"
#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

std::vector<Point> RandomPoints(size_t count, size_t objectives, Rng& rng) {
  std::vector<Point> points(count, Point(objectives));
  for (Point& point : points) {
    for (double& v : point) v = rng.Uniform();
  }
  return points;
}

// Most of them on a front.
std::vector<Point> RandomFront(size_t count, size_t objectives, Rng& rng) {
  std::vector<Point> points = RandomPoints(count, objectives, rng);
  for (Point& point : points) {
    double norm = 0;
    for (double v : point) norm += v;
    for (double& v : point) v /= norm;
  }
  return points;
}

TEST_CASE("hypervolume: known values") {
  CHECK(Hypervolume({}, {1, 1}) == 0);
  CHECK(Hypervolume({{0, 0}}, {2, 3}) == 6);
  CHECK(Hypervolume({{0, 1}, {1, 0}, {1, 1}, {0, 1}}, {2, 2}) == 3);
  CHECK(Hypervolume({{0, 1}, {1, 0}, {0, 2}, {5, -9}}, {2, 2}) == 3);
  CHECK(Hypervolume({{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}, {2, 2, 2}) == 7);
  CHECK(Hypervolume({{0, 0, 0}, {0, 0, 0}}, {1, 2, 3}) == 6);
  CHECK(Hypervolume({{3}, {2}}, {5}) == 3);
  CHECK(Hypervolume({{0, 1, 1, 1}, {1, 0, 0, 0}}, {2, 2, 2, 2}) == 2 + 8 - 1);
}

TEST_CASE("hypervolume: every place below the reference is dominated or in one box") {
  Rng rng(1, TrialId(0), "test");
  for (const size_t objectives : {2, 3, 4}) {
    CAPTURE(objectives);
    std::vector<Point> points = RandomFront(14, objectives, rng);
    points.push_back(points[0]);
    points.push_back(points[1]);
    points.back()[0] = points[2][0];  // a tie in one objective
    const Point reference(objectives, 0.7);
    const std::vector<Box> boxes = OpenBoxes(points, reference);
    for (const Point& place : RandomPoints(3000, objectives, rng)) {
      bool below = true, dominated = false;
      for (double v : place) below = below && v < 0.7;
      for (const Point& point : points) dominated |= Dominates(point, place);
      int in = 0;
      for (const Box& box : boxes) {
        bool inside = true;
        for (size_t i = 0; i < objectives; ++i) {
          inside = inside && box.low[i] <= place[i] && place[i] < box.high[i];
        }
        in += inside;
      }
      CHECK(in == (below && !dominated ? 1 : 0));
    }
  }
}

TEST_CASE("hypervolume: a gain is the volume with the point less that without") {
  Rng rng(2, TrialId(0), "test");
  for (const size_t objectives : {1, 2, 3, 4}) {
    CAPTURE(objectives);
    const std::vector<Point> points = RandomFront(10, objectives, rng);
    const Point reference(objectives, 0.9);
    const OpenRegion region(points, reference);
    for (const Point& y : RandomFront(30, objectives, rng)) {
      std::vector<Point> more = points;
      more.push_back(y);
      const double gain = Hypervolume(more, reference) - Hypervolume(points, reference);
      CHECK(region.Gain(y) == doctest::Approx(gain).epsilon(1e-9));
    }
    for (const Point& point : points) CHECK(region.Gain(point) == 0);
  }
}

TEST_CASE("expected gain: as Monte Carlo has it, over fronts of 2 to 4 objectives") {
  Rng rng(3, TrialId(0), "test");
  constexpr int kDraws = 40000;
  for (const size_t objectives : {2, 3, 4}) {
    const OpenRegion region(RandomFront(8, objectives, rng), Point(objectives, 1.0));
    for (int k = 0; k < 4; ++k) {
      CAPTURE(objectives);
      CAPTURE(k);
      const Point mean = RandomFront(1, objectives, rng)[0];
      Point sd(objectives);
      for (double& v : sd) v = 0.02 + 0.3 * rng.Uniform();
      double sum = 0, square = 0;
      for (int i = 0; i < kDraws; ++i) {
        Point y = mean;
        for (size_t j = 0; j < objectives; ++j) y[j] += sd[j] * rng.Normal();
        const double gain = region.Gain(y);
        sum += gain / kDraws;
        square += gain * gain / kDraws;
      }
      const double error = std::sqrt((square - sum * sum) / kDraws);
      CHECK(std::fabs(std::exp(region.LogExpectedGain(mean, sd)) - sum) < 5 * error);
    }
  }
}

TEST_CASE("expected gain: without a front it is a product of improvements") {
  const OpenRegion region({}, {1.0, 2.0});
  const Point mean = {0.8, 2.5}, sd = {0.3, 0.2};
  const double product = LogExpectedImprovement(1, mean[0], sd[0]).value +
                         LogExpectedImprovement(2, mean[1], sd[1]).value;
  CHECK(region.LogExpectedGain(mean, sd) == doctest::Approx(product).epsilon(1e-12));
  // Of one objective it is the expected improvement.
  CHECK(OpenRegion({{0.7}, {0.4}}, {1.0}).LogExpectedGain(Point{0.5}, Point{0.1}) ==
        doctest::Approx(LogExpectedImprovement(0.4, 0.5, 0.1).value));
}

TEST_CASE("expected gain: what is known for certain gains what it dominates") {
  const OpenRegion region({{0, 2}, {1, 1}, {2, 0}}, {3, 3});
  const Point sd = {1e-9, 1e-9};
  CHECK(std::exp(region.LogExpectedGain(Point{0.5, 0.5}, sd)) ==
        doctest::Approx(region.Gain(Point{0.5, 0.5})));
  CHECK(region.Gain(Point{0.5, 0.5}) == 1.25);
}

TEST_CASE("expected gain: never flat, and less the further a mean is dominated") {
  for (const std::vector<Point>& points :
       {std::vector<Point>{{0, 2}, {1, 1}, {2, 0}}, std::vector<Point>{{0, 0}}}) {
    const OpenRegion region(points, {3, 3});
    Point by_mean(2), by_sd(2);
    double before = 1e300;
    // From 0.5 on doubles hold no gain, only its logarithm.
    for (const double at : {-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 4.0, 50.0, 1e3}) {
      for (const double sd : {1e-2}) {
        const Point mean = {1 + at, 1 + at}, sds = {sd, sd};
        const double value = region.LogExpectedGain(mean, sds, by_mean, by_sd);
        CAPTURE(at);
        CHECK(std::isfinite(value));
        CHECK(value < before);
        CHECK(by_mean[0] < 0);
        CHECK(std::isfinite(by_mean[0]));
        CHECK(std::isfinite(by_sd[1]));
        CHECK(region.LogExpectedGain(mean, sds) == doctest::Approx(value));
        before = value;
      }
    }
  }
}

TEST_CASE("expected gain: derivatives are those of differences") {
  Rng rng(4, TrialId(0), "test");
  for (const size_t objectives : {1, 2, 3, 4}) {
    const OpenRegion region(RandomFront(9, objectives, rng), Point(objectives, 0.8));
    for (int k = 0; k < 10; ++k) {
      Point mean = RandomFront(1, objectives, rng)[0], sd(objectives);
      for (double& v : mean) v += k < 5 ? 0 : 2;  // far from any gain
      for (double& v : sd) v = 0.02 + 0.3 * rng.Uniform();
      Point by_mean(objectives), by_sd(objectives);
      region.LogExpectedGain(mean, sd, by_mean, by_sd);
      for (size_t i = 0; i < objectives; ++i) {
        CAPTURE(objectives);
        CAPTURE(k);
        CAPTURE(i);
        const auto slope = [&](Point& of) {
          const double step = 1e-5 * sd[i], middle = of[i];
          of[i] = middle + step;
          const double more = region.LogExpectedGain(mean, sd);
          of[i] = middle - step;
          const double less = region.LogExpectedGain(mean, sd);
          of[i] = middle;
          return (more - less) / (2 * step);
        };
        CHECK(by_mean[i] == doctest::Approx(slope(mean)).epsilon(1e-4));
        CHECK(by_sd[i] == doctest::Approx(slope(sd)).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("hypervolume: as many boxes as said") {
  Rng rng(5, TrialId(0), "test");
  CHECK(OpenRegion(RandomFront(50, 2, rng), {2, 2}).boxes() == 51);
  CHECK(OpenRegion(RandomFront(50, 3, rng), {2, 2, 2}).boxes() <= 2 * 50 + 3);
}

}  // namespace
}  // namespace hyperopt::internal

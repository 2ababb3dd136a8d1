#include "trial/rng.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace hyperopt {
namespace {

std::vector<uint64_t> First(Rng rng, int n) {
  std::vector<uint64_t> draws;
  for (int i = 0; i < n; ++i) draws.push_back(rng.Next());
  return draws;
}

TEST_CASE("rng: the same key gives the same draws in every build, for ever") {
  // Frozen, and computed by another implementation: a sweep recorded by an older build
  // must be proposed the same by this one.
  CHECK(First(Rng(42, TrialId(7), "learning_rate"), 3) ==
        std::vector<uint64_t>{
            0x3bf2d4d62fbe0cfd, 0x74517ca80d44ec1e, 0x92cc6efa6135853e});
  CHECK(HashText("") == 0xcbf29ce484222325);
  CHECK(HashText("a") == 0xaf63dc4c8601ec8c);  // of the FNV authors' test vectors
  CHECK(HashText("foobar") == 0x85944171f73967e8);
}

TEST_CASE("rng: seed, trial and stream each change the draws") {
  std::set<uint64_t> firsts;
  int keys = 0;
  for (uint64_t seed : {0, 1, 42}) {
    for (int64_t trial = 0; trial < 50; ++trial) {
      for (const char* stream : {"", "a", "b", "ab", "learning_rate"}) {
        firsts.insert(Rng(seed, TrialId(trial), stream).Next());
        ++keys;
      }
    }
  }
  CHECK(firsts.size() == static_cast<size_t>(keys));
}

// Sum of (observed - expected)^2 / expected.
double ChiSquare(const std::vector<int>& counts, double expected) {
  double sum = 0;
  for (int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST_CASE("rng: uniform draws fill [0, 1) evenly") {
  Rng rng(1, TrialId(0), "uniform");
  std::vector<int> counts(100);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = rng.Uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    ++counts[static_cast<size_t>(u * 100)];
    sum += u;
  }
  CHECK(ChiSquare(counts, 1000) < 149);  // 99 degrees of freedom, p = 0.001
  CHECK(sum / 100000 == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("rng: first draws of neighbouring trials are independent") {
  std::vector<int> counts(100);
  for (int64_t trial = 0; trial < 100000; ++trial) {
    const double u = Rng(42, TrialId(trial), "x").Uniform();
    ++counts[static_cast<size_t>(u * 100)];
  }
  CHECK(ChiSquare(counts, 1000) < 149);
  std::vector<int> pairs(100);
  for (int64_t trial = 0; trial < 100000; ++trial) {
    const auto a = static_cast<size_t>(Rng(42, TrialId(trial), "x").Uniform() * 10);
    const auto b = static_cast<size_t>(Rng(42, TrialId(trial), "y").Uniform() * 10);
    ++pairs[a * 10 + b];
  }
  CHECK(ChiSquare(pairs, 1000) < 149);
}

TEST_CASE("rng: Below is even, also where n does not divide 2^64") {
  Rng rng(3, TrialId(0), "below");
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[rng.Below(7)];
  CHECK(ChiSquare(counts, 10000) < 22.46);  // 6 degrees of freedom, p = 0.001
  CHECK(rng.Below(1) == 0);
  // Three quarters of the range: without rejection the lower third came twice as often.
  const uint64_t n = uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += rng.Below(n) < n / 3 ? 1 : 0;
  CHECK(low == doctest::Approx(10000).epsilon(0.03));
}

TEST_CASE("rng: normal quantiles agree with tables to the last digits") {
  struct Case {
    double p, x;
  };
  for (const Case& c : {Case{1e-300, -37.0470962993612},
                        {1e-20, -9.262340089798405},
                        {1e-10, -6.361340902404056},
                        {0.001, -3.090232306167813},
                        {0.3, -0.5244005127080407},
                        {0.9, 1.2815515655446008},
                        {0.999999, 4.753424308817089}}) {
    CAPTURE(c.p);
    CHECK(NormalQuantile(c.p) == doctest::Approx(c.x).epsilon(1e-14));
  }
  CHECK(NormalQuantile(0.5) == 0);
  CHECK(NormalQuantile(0) == -INFINITY);
  CHECK(NormalQuantile(1) == INFINITY);
}

TEST_CASE("rng: NormalCdf undoes NormalQuantile") {
  for (double p = 0.001; p < 1; p += 0.001) {
    CHECK(NormalCdf(NormalQuantile(p)) == doctest::Approx(p).epsilon(1e-13));
  }
  CHECK(NormalCdf(-40) >= 0);
  CHECK(NormalCdf(40) == 1);
  CHECK(NormalCdf(-INFINITY) == 0);
}

TEST_CASE("rng: normal draws have the moments of a normal") {
  Rng rng(5, TrialId(0), "normal");
  constexpr int kDraws = 200000;
  std::array<double, 4> moments{};
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.Normal();
    REQUIRE(std::isfinite(x));
    for (size_t m = 0; m < 4; ++m) moments[m] += std::pow(x, m + 1) / kDraws;
  }
  CHECK(std::fabs(moments[0]) < 0.01);
  CHECK(moments[1] == doctest::Approx(1).epsilon(0.02));
  CHECK(std::fabs(moments[2]) < 0.05);
  CHECK(moments[3] == doctest::Approx(3).epsilon(0.05));
}

}  // namespace
}  // namespace hyperopt

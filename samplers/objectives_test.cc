// Several objectives, over the samplers that learn.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "samplers/sampler.h"
#include "trial/pareto.h"

namespace hyperopt {
namespace {

// x from 0 to 1 trades one for the other; y and z only cost.
Point Values(const Params& params) {
  const double x = std::get<double>(params.at("x")),
               y = std::get<double>(params.at("y")),
               z = std::get<double>(params.at("z"));
  const double cost = 1 + 4 * (std::abs(y - 0.3) + std::abs(z - 0.7));
  return {x * cost, (1 - std::sqrt(x)) * cost};
}

// The area below (2, 3) that is dominated: larger is better.
double Hypervolume(std::vector<Point> points) {
  std::ranges::sort(points);
  double area = 0, ceiling = 3;
  for (const Point& point : points) {
    if (point[0] >= 2 || point[1] >= ceiling) continue;
    area += (2 - point[0]) * (ceiling - point[1]);
    ceiling = point[1];
  }
  return area;
}

SearchSpace Space() {
  return SearchSpace(
      {{"x", FloatDomain{}}, {"y", FloatDomain{}}, {"z", FloatDomain{}}});
}

struct Run {
  std::vector<Params> proposals;
  std::vector<Point> values;
};

// The second objective is maximised as its negative where `turned`.
Run RunAll(
    SamplerKind kind, uint64_t seed, bool turned, bool fresh, int64_t trials = 40) {
  SamplerOptions options = {.kind = kind, .seed = seed, .num_samples = trials};
  options.other_goals = {turned ? Goal::kMaximize : Goal::kMinimize};
  auto sampler = MakeSampler(Space(), options);
  Run run;
  History history;
  for (int64_t i = 0; i < options.num_samples; ++i) {
    if (fresh) sampler = MakeSampler(Space(), options);
    HistoryEntry entry{.trial = TrialId(i), .state = TrialState::kCompleted};
    entry.params = sampler->Suggest(TrialId(i), history).value();
    const Point values = Values(entry.params);
    entry.objective = Objective::Of(values[0]);
    entry.others = {Objective::Of(turned ? -values[1] : values[1])};
    if (i % 9 == 8) entry.others = {Objective::Missing()};  // counts as failed
    history.ended.push_back(entry);
    run.proposals.push_back(entry.params);
    run.values.push_back(values);
  }
  return run;
}

constexpr SamplerKind kKinds[] = {
    SamplerKind::kTpe, SamplerKind::kGp, SamplerKind::kCmaes, SamplerKind::kAuto};

TEST_CASE("several objectives: the front is further than at random") {
  double random = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    random += Hypervolume(RunAll(SamplerKind::kRandom, seed, false, false).values) / 3;
  }
  for (const SamplerKind kind : {SamplerKind::kTpe, SamplerKind::kGp}) {
    CAPTURE(static_cast<int>(kind));
    double mean = 0;
    for (const uint64_t seed : {1, 2, 3}) {
      const Run run = RunAll(kind, seed, false, false);
      mean += Hypervolume(run.values) / 3;
      // It is a front, not a point of it.
      double low = 1, high = 0;
      for (size_t i = 10; i < run.proposals.size(); ++i) {
        const double x = std::get<double>(run.proposals[i].at("x"));
        low = std::min(low, x);
        high = std::max(high, x);
      }
      CHECK(high - low > 0.4);
    }
    CHECK(mean > random + 0.15);
  }
}

TEST_CASE(
    "several objectives: each goal counts, and a fresh sampler proposes the same") {
  for (const SamplerKind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    const Run run = RunAll(kind, 5, false, false, 14);
    CHECK(run.proposals == RunAll(kind, 5, false, true, 14).proposals);
    CHECK(run.proposals == RunAll(kind, 5, true, false, 14).proposals);
  }
}

// Values of `objectives` objectives that are all odd in some way.
std::vector<double> Odd(int which, int64_t i, double x, size_t objectives) {
  std::vector<double> values(objectives, 1.0);  // 0: all equal
  for (size_t k = 0; k < objectives; ++k) {
    const double own = k == 0 ? x : std::pow(1 - x, static_cast<double>(k));
    if (which == 1) values[k] = i == 4 ? own : NAN;  // one has values
    if (which == 2) values[k] = NAN;
    if (which == 3) values[k] = k == 1 ? 1e300 * (own - 0.5) : own;
    if (which == 4) values[k] = x;                 // they agree: a front of one
    if (which == 5) values[k] = k == 0 ? 1 : own;  // one tells nothing
  }
  return values;
}

TEST_CASE("several objectives: odd values are no obstacle, trials at once differ") {
  for (const size_t objectives : {2, 3, 5}) {
    for (int which = 0; which < 6; ++which) {
      CAPTURE(objectives);
      CAPTURE(which);
      SamplerOptions options = {.kind = SamplerKind::kGp, .seed = 3, .num_samples = 14};
      options.other_goals.assign(objectives - 1, Goal::kMinimize);
      const auto sampler = MakeSampler(Space(), options);
      History history;
      for (int64_t i = 0; i < 12; ++i) {
        HistoryEntry entry{.trial = TrialId(i), .state = TrialState::kCompleted};
        entry.params = sampler->Suggest(TrialId(i), history).value();
        const double x = std::get<double>(entry.params.at("x"));
        const std::vector<double> values = Odd(which, i, x, objectives);
        entry.objective = Objective::Of(values[0]);
        for (size_t k = 1; k < objectives; ++k) {
          entry.others.push_back(Objective::Of(values[k]));
        }
        history.ended.push_back(entry);
      }
      HistoryEntry open{.trial = TrialId(12), .state = TrialState::kRunning};
      open.params = sampler->Suggest(TrialId(12), history).value();
      history.pending = {open};
      const Params beside = sampler->Suggest(TrialId(13), history).value();
      double distance = 0;
      for (const char* name : {"x", "y", "z"}) {
        distance += std::abs(std::get<double>(beside.at(name)) -
                             std::get<double>(open.params.at(name)));
      }
      CHECK(distance > 1e-3);
    }
  }
}

}  // namespace
}  // namespace hyperopt

// What the model-based samplers promise beyond the contract suite: what they find, what
// they never repeat, and that no history upsets them.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "samplers/sampler.h"

namespace hyperopt {
namespace {

constexpr SamplerKind kModels[] = {SamplerKind::kTpe, SamplerKind::kGp};

void Tell(History& history, const Params& params, double value) {
  history.ended.push_back({TrialId(std::ssize(history.ended)),
                           TrialState::kCompleted,
                           params,
                           Objective::Of(value),
                           1});
}

double Bowl(const Params& params) {
  const double x = std::get<double>(params.at("x")) - 0.7;
  const double y = std::log10(std::get<double>(params.at("y"))) + 3;
  const double word = std::get<std::string>(params.at("word")) == "b" ? 0 : 0.5;
  return x * x + 0.2 * y * y + word;
}

SearchSpace BowlSpace() {
  return SearchSpace(
      {{"x", FloatDomain{}},
       {"y", FloatDomain{.lower = 1e-6, .upper = 1, .log = true}},
       {"word",
        CategoricalDomain{{std::string("a"), std::string("b"), std::string("c")}}}});
}

double BestOf(SamplerKind kind, Goal goal, uint64_t seed, int trials) {
  const auto sampler = MakeSampler(
      BowlSpace(), {.kind = kind, .goal = goal, .seed = seed, .num_samples = trials});
  History history;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < trials; ++i) {
    const Params params = sampler->Suggest(TrialId(i), history).value();
    const double value = Bowl(params);
    best = std::min(best, value);
    Tell(history, params, goal == Goal::kMinimize ? value : -value);
  }
  return best;
}

TEST_CASE("models come far closer to a known optimum than random draws") {
  double random = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    random += BestOf(SamplerKind::kRandom, Goal::kMinimize, seed, 30) / 5;
  }
  for (SamplerKind kind : kModels) {
    CAPTURE(static_cast<int>(kind));
    double mean = 0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      mean += BestOf(kind, Goal::kMinimize, seed, 30) / 5;
    }
    CHECK(mean < 0.5 * random);
  }
}

TEST_CASE("to maximize is to minimize the negative") {
  for (SamplerKind kind : kModels) {
    CHECK(BestOf(kind, Goal::kMinimize, 3, 20) == BestOf(kind, Goal::kMaximize, 3, 20));
  }
}

TEST_CASE("a finite space is tried once, then there is no more") {
  const SearchSpace space({{"k", IntDomain{.lower = 1, .upper = 3}},
                           {"flag", CategoricalDomain{{true, false}}}});
  for (SamplerKind kind : {SamplerKind::kTpe, SamplerKind::kGp, SamplerKind::kSobol}) {
    CAPTURE(static_cast<int>(kind));
    const auto sampler = MakeSampler(space, {.kind = kind, .num_samples = 20});
    CHECK_FALSE(sampler->TrialCount().has_value());
    History history;
    std::set<Params> tried;
    for (int i = 0; i < 6; ++i) {
      const auto params = sampler->Suggest(TrialId(i), history);
      REQUIRE(params.has_value());
      CHECK(tried.insert(*params).second);
      // The last two are still running.
      if (i < 4) {
        Tell(history, *params, i);
      } else {
        history.pending.push_back({.trial = TrialId(i), .params = *params});
      }
    }
    CHECK_FALSE(sampler->Suggest(TrialId(6), history).has_value());
  }
}

TEST_CASE("auto keeps the stated number of trials, each setting once first") {
  const SearchSpace space({{"k", IntDomain{.lower = 1, .upper = 3}}});
  const auto sampler =
      MakeSampler(space, {.kind = SamplerKind::kAuto, .num_samples = 7});
  CHECK(sampler->TrialCount() == 7);
  History history;
  std::set<Params> first;
  for (int i = 0; i < 7; ++i) {
    const auto params = sampler->Suggest(TrialId(i), history);
    REQUIRE(params.has_value());
    if (i < 3) CHECK(first.insert(*params).second);
    Tell(history, *params, i);
  }
  CHECK_FALSE(sampler->Suggest(TrialId(7), history).has_value());
}

TEST_CASE("auto: a proposal costs less than the trials do") {
  const auto history = [](double seconds) {
    History told;
    const auto random = MakeSampler(BowlSpace(), {.num_samples = 40});
    for (int i = 0; i < 40; ++i) {
      const Params params = random->Suggest(TrialId(i), {}).value();
      Tell(told, params, Bowl(params));
      told.ended.back().seconds = seconds;
    }
    return told;
  };
  const auto proposed = [&](SamplerKind kind, double seconds) {
    const auto sampler = MakeSampler(BowlSpace(), {.kind = kind, .num_samples = 41});
    return sampler->Suggest(TrialId(40), history(seconds)).value();
  };
  using enum SamplerKind;
  CHECK(proposed(kAuto, 0.001) == proposed(kSobol, 0.001));
  CHECK(proposed(kAuto, 0.5) == proposed(kTpe, 0.5));
  CHECK(proposed(kAuto, 60) == proposed(kGp, 60));
  // Not known: as an hour.
  CHECK(proposed(kAuto, 0) == proposed(kGp, 0));
  CHECK(proposed(kSobol, 0) != proposed(kTpe, 0));
  CHECK(proposed(kTpe, 0) != proposed(kGp, 0));
}

TEST_CASE("trials that run are counted: no two of a batch are alike") {
  for (SamplerKind kind : kModels) {
    CAPTURE(static_cast<int>(kind));
    const auto sampler = MakeSampler(BowlSpace(), {.kind = kind, .num_samples = 40});
    History history;
    for (int i = 0; i < 15; ++i) {
      const Params params = sampler->Suggest(TrialId(i), history).value();
      Tell(history, params, Bowl(params));
    }
    for (int i = 15; i < 21; ++i) {
      const Params params = sampler->Suggest(TrialId(i), history).value();
      for (const HistoryEntry& other : history.pending) {
        const double x = std::get<double>(params.at("x"));
        const double y = std::log(std::get<double>(params.at("y")));
        const double far =
            std::fabs(x - std::get<double>(other.params.at("x"))) +
            std::fabs(y - std::log(std::get<double>(other.params.at("y"))));
        CHECK((far > 1e-3 || params.at("word") != other.params.at("word")));
      }
      history.pending.push_back({.trial = TrialId(i), .params = params});
    }
  }
}

TEST_CASE("no history upsets a model, and every proposal lies in the space") {
  std::vector<ParamValue> many;
  for (int64_t i = 0; i < 10000; ++i) many.emplace_back(std::in_place_type<int64_t>, i);
  const SearchSpace space(
      {{"x", FloatDomain{.lower = 2, .upper = std::nextafter(2.0, 3.0)}},
       {"only", IntDomain{.lower = 3, .upper = 3}},
       {"y", FloatDomain{.lower = -1e300, .upper = 1e300}},
       {"z", NormalDomain{.q = 0.5}},
       {"many", CategoricalDomain{many}},
       {"k", IntDomain{.lower = 0, .upper = 1}}});
  const auto random = MakeSampler(space, {.num_samples = 64});
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> histories = {
      {1},
      {kNan},
      {kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan},
      {3, 3, 3, 3, 3, 3, 3, 3, 3, 3},
      {1e300, -1e300, 1e308, -1e308, 0, kInfinity, -kInfinity, 1e-308, kNan},
      std::vector<double>(60, 0.0),
  };
  for (SamplerKind kind :
       {SamplerKind::kTpe, SamplerKind::kGp, SamplerKind::kSobol, SamplerKind::kAuto}) {
    CAPTURE(static_cast<int>(kind));
    const auto sampler = MakeSampler(space, {.kind = kind, .num_samples = 100});
    for (const auto& values : histories) {
      for (bool same : {false, true}) {
        History history;
        for (size_t i = 0; i < values.size(); ++i) {
          const TrialId from(same ? 0 : static_cast<int64_t>(i));
          Tell(history, random->Suggest(from, {}).value(), values[i]);
        }
        const auto params = sampler->Suggest(TrialId(70), history);
        REQUIRE(params.has_value());
        CHECK(params->size() == space.size());
        CHECK_FALSE(space.ProblemWith(*params).has_value());
      }
    }
  }
}

TEST_CASE("auto says what it is") {
  CHECK(DescribeAuto(BowlSpace()) == "auto: gp, from trial 300 on tpe");
  std::vector<Parameter> wide;
  for (int i = 0; i < 60; ++i) wide.push_back({"x" + std::to_string(i), FloatDomain{}});
  CHECK(DescribeAuto(SearchSpace(wide)) == "auto: tpe");
}

}  // namespace
}  // namespace hyperopt

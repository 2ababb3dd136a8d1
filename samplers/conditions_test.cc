// Conditional parameters and constraints, over every sampler.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "samplers/internal/gp.h"
#include "samplers/internal/tpe.h"
#include "samplers/sampler.h"
#include "trial/errors.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

ParamValue Text(const char* text) { return std::string(text); }

// momentum takes part with sgd, nesterov with sgd and a momentum, beta with adam.
SearchSpace Conditional() {
  return SearchSpace(
      {{"beta", FloatDomain{0.5, 0.999}, {{"optimizer", {Text("adam")}}}},
       {"layers", IntDomain{.lower = 1, .upper = 6}},
       {"momentum", CategoricalDomain{{0.0, 0.5, 0.9}}, {{"optimizer", {Text("sgd")}}}},
       {"nesterov", CategoricalDomain{{true, false}}, {{"momentum", {0.5, 0.9}}}},
       {"optimizer", CategoricalDomain{{Text("sgd"), Text("adam"), Text("none")}}},
       {"width", IntDomain{.lower = 1, .upper = 1024, .log = true}}},
      {Constraint("layers * width <= 400"),
       Constraint("not nesterov or layers > 1"),
       Constraint("optimizer != 'none' or layers == 2")});
}

// All of it finite.
SearchSpace ConditionalGrid() {
  const auto grid = [](std::vector<ParamValue> values) {
    return GridDomain{std::move(values)};
  };
  const std::vector<ParamValue> few = {int64_t{1}, int64_t{2}, int64_t{3}};
  return SearchSpace(
      {{"layers", grid(few)},
       {"momentum", grid({0.0, 0.5, 0.9}), {{"optimizer", {Text("sgd")}}}},
       {"nesterov", grid({true, false}), {{"momentum", {0.5, 0.9}}}},
       {"optimizer", grid({Text("sgd"), Text("adam")})},
       {"width", grid(few)}},
      {Constraint("layers * width <= 4")});
}

constexpr SamplerKind kKinds[] = {SamplerKind::kRandom,
                                  SamplerKind::kSobol,
                                  SamplerKind::kTpe,
                                  SamplerKind::kGp,
                                  SamplerKind::kAuto};

struct Run {
  History history;
  std::vector<Params> proposals;
};

// Each trial ends before the next is proposed; another sampler for each, where `fresh`.
Run RunAll(const SearchSpace& space, const SamplerOptions& options, bool fresh) {
  Run run;
  auto sampler = MakeSampler(space, options);
  for (int64_t i = 0;; ++i) {
    if (fresh) sampler = MakeSampler(space, options);
    const auto params = sampler->Suggest(TrialId(i), run.history);
    if (!params) return run;
    const double layers = static_cast<double>(std::get<int64_t>(params->at("layers")));
    HistoryEntry entry{.trial = TrialId(i), .state = TrialState::kCompleted};
    entry.params = *params;
    entry.objective =
        Objective::Of(std::abs(layers - 3) + (params->size() > 4 ? 1 : 0));
    run.history.ended.push_back(entry);
    run.proposals.push_back(*params);
  }
}

void CheckProposal(const SearchSpace& space, const Params& params) {
  CAPTURE(ToJsonText(params));
  CHECK(space.Active(params) == params);
  CHECK_FALSE(space.ProblemWith(params).has_value());
  CHECK(space.Violated(params) == nullptr);
  for (const Parameter& parameter : space.parameters()) {
    CHECK(params.contains(parameter.name) == space.TakesPart(parameter, params));
  }
}

TEST_CASE("no proposal violates a constraint or names what takes no part") {
  const SearchSpace space = Conditional();
  for (const SamplerKind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    const Run run = RunAll(space, {.kind = kind, .num_samples = 40}, false);
    CHECK(run.proposals.size() == 40);
    std::set<ParamValue> optimizers;
    for (const Params& params : run.proposals) {
      CheckProposal(space, params);
      optimizers.insert(params.at("optimizer"));
    }
    CHECK(optimizers.size() >= 2);
  }
}

TEST_CASE("a fresh sampler proposes the same") {
  const SearchSpace space = Conditional();
  for (const SamplerKind kind : kKinds) {
    CAPTURE(static_cast<int>(kind));
    const SamplerOptions options = {.kind = kind, .seed = 5, .num_samples = 25};
    CHECK(RunAll(space, options, false).proposals ==
          RunAll(space, options, true).proposals);
  }
}

// By hand: width and layers 6 of 9 (1 1, 1 2, 1 3, 2 1, 2 2, 3 1); adam 1, sgd with
// momentum 0, with 0.5 and 0.9 each with nesterov or not: 6 of optimizers.
TEST_CASE("a grid has each cell that takes part once, and the count is exact") {
  const SearchSpace space = ConditionalGrid();
  for (const SamplerKind kind : {SamplerKind::kGrid, SamplerKind::kRandom}) {
    const SamplerOptions options = {.kind = kind, .num_samples = 1};
    CHECK(MakeSampler(space, options)->TrialCount() == 36);
    const Run run = RunAll(space, options, false);
    CHECK(run.proposals.size() == 36);
    CHECK(std::set<Params>(run.proposals.begin(), run.proposals.end()).size() == 36);
    for (const Params& params : run.proposals) CheckProposal(space, params);
  }
}

TEST_CASE("models find every cell of a finite space, and end") {
  const SearchSpace space = ConditionalGrid();
  for (const SamplerKind kind :
       {SamplerKind::kSobol, SamplerKind::kTpe, SamplerKind::kGp}) {
    CAPTURE(static_cast<int>(kind));
    const Run run = RunAll(space, {.kind = kind, .num_samples = 50}, false);
    CHECK(run.proposals.size() == 36);
    CHECK(std::set<Params>(run.proposals.begin(), run.proposals.end()).size() == 36);
  }
}

TEST_CASE("points keep what they name; what they leave open fits") {
  const SearchSpace space = ConditionalGrid();
  SamplerOptions options = {.kind = SamplerKind::kGrid, .num_samples = 1};
  options.points_to_evaluate = {{{"optimizer", Text("sgd")}, {"layers", int64_t{2}}}};
  const Run run = RunAll(space, options, false);
  CHECK(run.proposals.size() == 10);  // width 1 or 2, five of momentum and nesterov
  for (const Params& params : run.proposals) {
    CheckProposal(space, params);
    CHECK(params.at("layers") == ParamValue(int64_t{2}));
  }
  options.points_to_evaluate = {{{"optimizer", Text("adam")}, {"momentum", 0.5}}};
  CHECK_THROWS_WITH_AS(
      MakeSampler(space, options),
      "points_to_evaluate[0].momentum: takes no part where optimizer is \"adam\"",
      ConfigError);
}

TEST_CASE("grid cells whose draws can never fit are left out") {
  const SearchSpace space({{"layers", GridDomain{{int64_t{1}, int64_t{2}, int64_t{9}}}},
                           {"width", IntDomain{.lower = 10, .upper = 40}}},
                          {Constraint("layers * width <= 60")});
  const auto sampler = MakeSampler(space, {.num_samples = 3});
  CHECK(sampler->TrialCount() == 6);
  for (int64_t i = 0; i < 6; ++i) {
    CheckProposal(space, sampler->Suggest(TrialId(i), {}).value());
  }
}

TEST_CASE("a list's rows are held to the constraints") {
  SamplerOptions options = {.kind = SamplerKind::kList, .num_samples = 2};
  options.rows = {{{"layers", int64_t{3}}},
                  {{"layers", int64_t{5}}, {"width", int64_t{99}}}};
  CHECK_THROWS_WITH_AS(MakeSampler(Conditional(), options),
                       "rows[1]: constraint layers * width <= 400 does not hold",
                       ConfigError);
  options.rows.pop_back();
  const Params row =
      MakeSampler(Conditional(), options)->Suggest(TrialId(0), {}).value();
  CheckProposal(Conditional(), row);
  CHECK(row.at("layers") == ParamValue(int64_t{3}));
}

// Half of the trials have no rate, and are as good; those with one want it near its
// end.
TEST_CASE("tpe: trials without a parameter do not say where it is good") {
  const SearchSpace space(
      {{"with", CategoricalDomain{{true, false}}},
       {"rate", FloatDomain{.lower = 0, .upper = 1}, {{"with", {true}}}}});
  const auto sampler =
      MakeSampler(space, {.kind = SamplerKind::kTpe, .seed = 3, .num_samples = 300});
  History history;
  for (int64_t i = 0; i < 200; ++i) {
    Rng rng(11, TrialId(i), "history");
    HistoryEntry entry{.trial = TrialId(i), .state = TrialState::kCompleted};
    const double rate = rng.Uniform();
    entry.params = {{"with", i % 2 == 0}};
    if (i % 2 == 0) entry.params["rate"] = rate;
    entry.objective = Objective::Of(i % 2 == 0 ? 1 - rate : rng.Uniform());
    history.ended.push_back(entry);
  }
  double sum = 0;
  int count = 0;
  for (int64_t i = 200; i < 260; ++i) {
    const Params params = sampler->Suggest(TrialId(i), history).value();
    if (!params.contains("rate")) continue;
    sum += std::get<double>(params.at("rate"));
    ++count;
  }
  REQUIRE(count > 5);
  CHECK(sum / count > 0.85);
}

// 2 % of the cube is left. What a model proposes first is then its own choice, not a
// random one in place of rows that were refused.
TEST_CASE("models look only at what the constraints allow") {
  const SearchSpace space(
      {{"a", FloatDomain{}}, {"b", FloatDomain{}}, {"c", FloatDomain{}}},
      {Constraint("a + b + c <= 0.5")});
  const auto random = MakeSampler(space, {.num_samples = 40});
  History history;
  for (int64_t i = 0; i < 40; ++i) {
    HistoryEntry entry{.trial = TrialId(i), .state = TrialState::kCompleted};
    entry.params = random->Suggest(TrialId(i), {}).value();
    entry.objective = Objective::Of(-std::get<double>(entry.params.at("a")));
    history.ended.push_back(entry);
  }
  const internal::Encoding encoding(space);
  internal::Observations seen(encoding, Goal::kMinimize);
  seen.Update(history);
  const auto tpe = internal::MakeTpeProposer(encoding, 7);
  const auto gp = internal::MakeGpProposer(encoding, 7);
  for (const internal::Proposer* proposer : {tpe.get(), gp.get()}) {
    // Four in turn: gp chooses in several ways once nothing better was found.
    for (int64_t id = 40; id < 44; ++id) {
      const auto rows = proposer->Propose(TrialId(id), seen);
      CHECK(rows.size() > 20);
      for (const internal::Row& row : rows) {
        REQUIRE(space.Violated(encoding.ToParams(row)) == nullptr);
      }
    }
  }
}

TEST_CASE("results from elsewhere shape the first proposals") {
  const SearchSpace space({{"x", FloatDomain{0, 1}}});
  SamplerOptions options = {.kind = SamplerKind::kGp, .num_samples = 5};
  for (int i = 0; i <= 10; ++i) {
    HistoryEntry entry{.trial = kEvaluated, .state = TrialState::kCompleted};
    entry.params = {{"x", i / 10.0}};
    entry.objective = Objective::Of(std::pow(i / 10.0 - 0.33, 2));
    options.known.push_back(entry);
  }
  options.known.push_back(
      {.trial = kEvaluated, .params = {{"y", 1.0}}});  // not its own
  const auto first = MakeSampler(space, options)->Suggest(TrialId(0), {}).value();
  CHECK(std::abs(std::get<double>(first.at("x")) - 0.33) < 0.05);
}

}  // namespace
}  // namespace hyperopt

// What holds for every sampler, over every kind of domain. A new sampler adds itself to
// AllSetups and nothing else.
#include <doctest/doctest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "samplers/sampler.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

struct Setup {
  std::string name;
  SearchSpace space;
  SamplerOptions options;
};

// 3 * 2 * 2 * 4 * 2 cells.
SearchSpace FiniteSpace() {
  return SearchSpace({
      {"stepped", FloatDomain{.lower = 0.1, .upper = 0.3, .step = 0.1}},
      {"log_stepped", FloatDomain{.lower = 1, .upper = 1.5, .log = true, .step = 0.5}},
      {"layers", IntDomain{.lower = 1, .upper = 4, .step = 2}},
      {"mixed", CategoricalDomain{{int64_t{1}, 1.0, true, std::string("1")}}},
      {"grid", GridDomain{{std::monostate{}, Structured{R"({"a":[1,2]})"}}}},
  });
}

SearchSpace InfiniteSpace() {
  return SearchSpace({
      {"rate", FloatDomain{.lower = 1e-5, .upper = 0.1, .log = true}},
      {"dropout", FloatDomain{}},
      {"seed", IntDomain{.lower = INT64_MIN, .upper = INT64_MAX}},
      {"units", IntDomain{.lower = 1, .upper = 900, .log = true}},
      {"noise", NormalDomain{.mean = 1, .sd = 2}},
      {"tenths", NormalDomain{.q = 0.1}},
      {"grid", GridDomain{{0.1, 0.2, std::string("three")}}},
      {"mixed", CategoricalDomain{{int64_t{1}, 1.0, true, std::string("1")}}},
  });
}

std::vector<Setup> AllSetups() {
  const std::vector<Params> points = {{{"grid", 0.2}, {"dropout", int64_t{1}}},
                                      {{"rate", 0.001}}};
  const SearchSpace finite = FiniteSpace();
  const SearchSpace infinite = InfiniteSpace();
  std::vector<Setup> setups = {
      {"random", infinite, {.num_samples = 20}},
      {"random, finite", finite, {.num_samples = 20}},
      {"random, points", infinite, {.num_samples = 9, .points_to_evaluate = points}},
      {"random, constant",
       infinite,
       {.seed = 7,
        .num_samples = 9,
        .points_to_evaluate = points,
        .constant_grid_search = true}},
      {"grid", finite, {.kind = SamplerKind::kGrid, .num_samples = 1}},
      {"grid, points",
       finite,
       {.kind = SamplerKind::kGrid,
        .num_samples = 2,
        .points_to_evaluate = {{{"layers", int64_t{3}}}}}},
      {"list",
       infinite,
       {.kind = SamplerKind::kList, .num_samples = 2, .rows = points}},
      {"nothing to choose", SearchSpace(), {.num_samples = 3}},
  };
  for (const auto& [name, kind] : {std::pair("sobol", SamplerKind::kSobol),
                                   std::pair("tpe", SamplerKind::kTpe),
                                   std::pair("gp", SamplerKind::kGp),
                                   std::pair("auto", SamplerKind::kAuto)}) {
    const std::string word = name;
    setups.push_back({word, infinite, {.kind = kind, .num_samples = 20}});
    setups.push_back({word + ", maximize, points",
                      infinite,
                      {.kind = kind,
                       .goal = Goal::kMaximize,
                       .seed = 7,
                       .num_samples = 18,
                       .points_to_evaluate = points}});
    setups.push_back({word + ", finite", finite, {.kind = kind, .num_samples = 40}});
  }
  for (const auto& [name, objectives] : {std::pair("gp, two objectives", 2),
                                         std::pair("gp, three objectives", 3),
                                         std::pair("gp, five objectives", 5)}) {
    SamplerOptions options = {.kind = SamplerKind::kGp, .num_samples = 18};
    options.other_goals.assign(static_cast<size_t>(objectives - 1), Goal::kMaximize);
    setups.push_back({name, infinite, options});
  }
  const SearchSpace numbers({
      {"rate", FloatDomain{.lower = 1e-5, .upper = 0.1, .log = true}},
      {"units", IntDomain{.lower = 1, .upper = 900, .log = true}},
      {"noise", NormalDomain{.mean = 1, .sd = 2}},
      {"layers", IntDomain{.lower = 1, .upper = 4, .step = 2}},
  });
  setups.push_back(
      {"cmaes", numbers, {.kind = SamplerKind::kCmaes, .num_samples = 40}});
  setups.push_back({"cmaes, maximize, points",
                    numbers,
                    {.kind = SamplerKind::kCmaes,
                     .goal = Goal::kMaximize,
                     .seed = 7,
                     .num_samples = 30,
                     .points_to_evaluate = {{{"rate", 0.001}}}}});
  setups.push_back({"auto, nothing to choose",
                    SearchSpace(),
                    {.kind = SamplerKind::kAuto, .num_samples = 3}});
  return setups;
}

// A history that grows as trials end, with a failure and a NaN in it; entries have one
// more objective for each of `others`.
History HistoryBefore(int64_t trial,
                      const std::vector<Params>& proposals,
                      size_t others) {
  History history;
  for (int64_t i = 0; i < trial; ++i) {
    HistoryEntry entry{.trial = TrialId(i),
                       .params = proposals[static_cast<size_t>(i)]};
    if (i + 2 >= trial) {
      entry.state = TrialState::kRunning;
      history.pending.push_back(entry);
      continue;
    }
    entry.state = i % 5 == 4 ? TrialState::kFailed : TrialState::kCompleted;
    if (i % 5 != 4) {
      entry.objective =
          Objective::Of(i % 7 == 6 ? NAN : 1.0 / static_cast<double>(i + 1));
      for (size_t k = 1; k <= others; ++k) {
        const auto turn = static_cast<int64_t>(k) + 3;
        entry.others.push_back(Objective::Of(static_cast<double>(i % turn)));
      }
    }
    history.ended.push_back(entry);
  }
  return history;
}

std::vector<Params> Proposals(const Setup& setup) {
  const auto sampler = MakeSampler(setup.space, setup.options);
  const int64_t count = sampler->TrialCount().value_or(30);
  std::vector<Params> proposals;
  for (int64_t i = 0; i < count; ++i) {
    const auto params = sampler->Suggest(
        TrialId(i), HistoryBefore(i, proposals, setup.options.other_goals.size()));
    REQUIRE(params.has_value());
    proposals.push_back(*params);
  }
  return proposals;
}

bool HasType(const Domain& domain, const ParamValue& value) {
  if (std::holds_alternative<IntDomain>(domain)) {
    return std::holds_alternative<int64_t>(value);
  }
  if (std::holds_alternative<FloatDomain>(domain) ||
      std::holds_alternative<NormalDomain>(domain)) {
    return std::holds_alternative<double>(value);
  }
  return true;  // a value of the list, which ToUnit compares by type and value
}

TEST_CASE("sampler contract: every parameter, in its domain, of its type") {
  for (const Setup& setup : AllSetups()) {
    CAPTURE(setup.name);
    for (const Params& params : Proposals(setup)) {
      REQUIRE(params.size() == setup.space.size());
      for (const Parameter& parameter : setup.space.parameters()) {
        CAPTURE(parameter.name);
        const ParamValue& value = params.at(parameter.name);
        CAPTURE(ToJsonText(value));
        CHECK(ToUnit(parameter.domain, value).has_value());
        CHECK(HasType(parameter.domain, value));
      }
    }
  }
}

TEST_CASE("sampler contract: exactly TrialCount trials") {
  for (const Setup& setup : AllSetups()) {
    CAPTURE(setup.name);
    const auto sampler = MakeSampler(setup.space, setup.options);
    const auto count = sampler->TrialCount();
    if (!count) continue;
    CHECK(*count > 0);
    const std::vector<Params> proposals = Proposals(setup);
    for (int64_t beyond : {int64_t{0}, int64_t{1}, int64_t{1} << 40}) {
      CHECK_FALSE(
          sampler
              ->Suggest(
                  TrialId(*count + beyond),
                  HistoryBefore(*count, proposals, setup.options.other_goals.size()))
              .has_value());
    }
  }
}

TEST_CASE("sampler contract: points come first, values as they were given") {
  for (const Setup& setup : AllSetups()) {
    CAPTURE(setup.name);
    const std::vector<Params> proposals = Proposals(setup);
    size_t at = 0;
    for (const Params& point : setup.options.points_to_evaluate) {
      const auto holds = [&](const Params& params) {
        for (const auto& [name, value] : point) {
          const Parameter* parameter = setup.space.Find(name);
          if (params.at(name) != Typed(parameter->domain, value)) return false;
        }
        return true;
      };
      REQUIRE(at < proposals.size());
      CHECK(holds(proposals[at]));
      while (at < proposals.size() && holds(proposals[at])) ++at;
    }
  }
}

TEST_CASE("sampler contract: a fresh object proposes what a long-lived one does") {
  for (const Setup& setup : AllSetups()) {
    CAPTURE(setup.name);
    const std::vector<Params> proposals = Proposals(setup);  // one object for all
    // Backwards, so that nothing can lean on the trial before.
    for (int64_t i = std::ssize(proposals) - 1; i >= 0; --i) {
      const auto fresh = MakeSampler(setup.space, setup.options);
      CHECK(fresh->Suggest(
                TrialId(i),
                HistoryBefore(i, proposals, setup.options.other_goals.size())) ==
            proposals[static_cast<size_t>(i)]);
    }
  }
}

TEST_CASE("sampler contract: a sampler that needs no history does not read it") {
  for (const Setup& setup : AllSetups()) {
    CAPTURE(setup.name);
    const auto sampler = MakeSampler(setup.space, setup.options);
    if (sampler->needs_history()) continue;
    const std::vector<Params> proposals = Proposals(setup);
    for (int64_t i = 0; i < std::ssize(proposals); ++i) {
      CHECK(sampler->Suggest(TrialId(i), {}) == proposals[static_cast<size_t>(i)]);
    }
  }
}

constexpr char kOutput[] = "SAMPLER_CONTRACT_OUTPUT";

std::string AllProposals() {
  std::string text;
  for (const Setup& setup : AllSetups()) {
    text += setup.name + "\n";
    for (const Params& params : Proposals(setup)) text += ToJsonText(params) + "\n";
  }
  return text;
}

// Run by the test below in a process of its own.
TEST_CASE("sampler contract: helper that writes all proposals" * doctest::skip()) {
  const char* path = std::getenv(kOutput);
  REQUIRE(path != nullptr);
  WriteFileAtomically(path, AllProposals(), Durability::kProcess);
}

TEST_CASE("sampler contract: another process proposes the same") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("sampler contract " + RandomHex(8));
  std::filesystem::create_directory(folder);
  const auto path = folder / "proposals";
  std::string setting = std::string(kOutput) + "=" + path.string();
  std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string filter = "--test-case=*helper that writes all proposals";
  std::string no_skip = "--no-skip";
  char* args[] = {program.data(), filter.data(), no_skip.data(), nullptr};
  char* environment[] = {setting.data(), nullptr};
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, program.c_str(), nullptr, nullptr, args, environment) ==
          0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(ReadFile(path) == AllProposals());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hyperopt

// How good what a sampler finds is, and what a proposal costs, on functions that need
// no other program: a few minutes tell whether a change to a sampler helps at all.
//
//   sampler_quality KIND [SEEDS [TRIALS [FUNCTION]]]
//   sampler_quality time KIND HISTORY
//
// KIND: random, sobol, tpe, gp, auto.
//
// The first prints for each function the mean over the seeds of (best after N -
// optimum) / (the median of random - optimum) at N = TRIALS / 3 and TRIALS, clipped at
// 2, then the cost of a proposal and the best value met. The second prints what
// proposals cost in 10 mixed dimensions: the first one reads the whole history, as
// after a resume, the next ones are what a sweep pays.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>

#include "samplers/sampler.h"
#include "tests/bench/sampler_problems.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

std::vector<Problem> Problems() {
  std::vector<Problem> all = FormulaProblems();
  for (Problem& problem : LearnerProblems()) all.push_back(std::move(problem));
  for (Problem& problem : ScaleProblems()) all.push_back(std::move(problem));
  return all;
}

SamplerKind KindOf(const std::string& word) {
  static const std::map<std::string, SamplerKind> kinds = {
      {"random", SamplerKind::kRandom},
      {"sobol", SamplerKind::kSobol},
      {"tpe", SamplerKind::kTpe},
      {"gp", SamplerKind::kGp},
      {"auto", SamplerKind::kAuto}};
  return kinds.at(word);
}

// The best so far after each trial.
std::vector<double> Search(const Problem& problem,
                           SamplerKind kind,
                           uint64_t seed,
                           int trials) {
  const auto sampler =
      MakeSampler(problem.space, {.kind = kind, .seed = seed, .num_samples = trials});
  History history;
  std::vector<double> best;
  for (int i = 0; i < trials; ++i) {
    const Params params = sampler->Suggest(TrialId(i), history).value();
    const double value = problem.f(params);
    history.ended.push_back(
        {TrialId(i), TrialState::kCompleted, params, Objective::Of(value), 1});
    best.push_back(best.empty() ? value : std::min(best.back(), value));
  }
  return best;
}

void Quality(SamplerKind kind, int seeds, int trials, const std::string& only) {
  constexpr int kRandoms = 21;
  double total[2] = {};
  int count = 0;
  for (const Problem& problem : Problems()) {
    if (!only.empty() && problem.name.find(only) == std::string::npos) continue;
    double sums[2] = {};
    const int at[2] = {trials / 3 - 1, trials - 1};
    std::vector<double> random[2];
    double seen = 1e300;
    for (int i = 0; i < kRandoms; ++i) {
      const auto best = Search(
          problem, SamplerKind::kRandom, 1000 + static_cast<uint64_t>(i), trials);
      for (int n = 0; n < 2; ++n) random[n].push_back(best[static_cast<size_t>(at[n])]);
    }
    const auto start = std::chrono::steady_clock::now();
    for (int seed = 0; seed < seeds; ++seed) {
      const auto best = Search(problem, kind, static_cast<uint64_t>(seed), trials);
      seen = std::min(seen, best.back());
      for (int n = 0; n < 2; ++n) {
        std::ranges::sort(random[n]);
        const double unit = random[n][kRandoms / 2] - problem.least;
        sums[n] += std::clamp(
            (best[static_cast<size_t>(at[n])] - problem.least) / unit, 0.0, 2.0);
      }
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-14s %6.3f %6.3f   %7.2f ms a proposal  %.6g\n",
                problem.name.c_str(),
                sums[0] / seeds,
                sums[1] / seeds,
                1e3 * seconds / seeds / trials,
                seen);
    std::fflush(stdout);
    for (int n = 0; n < 2; ++n) total[n] += sums[n] / seeds;
    ++count;
  }
  std::printf("%-14s %6.3f %6.3f\n", "mean", total[0] / count, total[1] / count);
}

void Time(SamplerKind kind, int size) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 6; ++i)
    parameters.push_back({fmt::format("x{}", i), Linear(0, 1)});
  parameters.push_back({"k", IntDomain{.lower = 1, .upper = 20}});
  parameters.push_back({"w", IntDomain{.lower = 8, .upper = 1024, .log = true}});
  for (const char* name : {"a", "b"}) {
    parameters.push_back(
        {name,
         CategoricalDomain{{std::string("1"), std::string("2"), std::string("3")}}});
  }
  const SearchSpace space(parameters);
  const auto random =
      MakeSampler(space, {.kind = SamplerKind::kRandom, .num_samples = size + 10});
  const auto sampler = MakeSampler(space, {.kind = kind, .num_samples = size + 10});
  History history;
  for (int i = 0; i < size + 8; ++i) {
    if (i >= size) {
      const std::clock_t start = std::clock();
      sampler->Suggest(TrialId(i), history);
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      std::printf("history %d: %.3f ms of CPU time\n", i, 1e3 * seconds);
    }
    const Params params = random->Suggest(TrialId(i), history).value();
    double value = 0;
    for (int j = 0; j < 6; ++j) {
      value += std::pow(Number(params, fmt::format("x{}", j).c_str()) - 0.1 * j, 2);
    }
    history.ended.push_back(
        {TrialId(i), TrialState::kCompleted, params, Objective::Of(value), 1});
  }
}

}  // namespace
}  // namespace hyperopt

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    std::fprintf(stderr, "usage: sampler_quality KIND [SEEDS [TRIALS [FUNCTION]]]\n");
    return 2;
  }
  if (words[0] == "time") {
    hyperopt::Time(hyperopt::KindOf(words.at(1)), std::stoi(words.at(2)));
    return 0;
  }
  hyperopt::Quality(hyperopt::KindOf(words[0]),
                    words.size() > 1 ? std::stoi(words[1]) : 5,
                    words.size() > 2 ? std::stoi(words[2]) : 60,
                    words.size() > 3 ? words[3] : "");
}

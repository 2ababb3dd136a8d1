// How good what a sampler finds is, and what a proposal costs, on functions that need
// no other program: a few minutes tell whether a change to a sampler helps at all. The
// functions imitate what tuning meets: scales, plateaus, cliffs, categories that change
// everything or nothing, parameters without effect, rough values.
//
//   sampler_quality KIND [SEEDS [TRIALS [FUNCTION]]]      KIND: random sobol tpe gp
//   auto sampler_quality time KIND HISTORY
//
// Prints for each function the mean over the seeds of (best after N - optimum) / (the
// median of random - optimum) at N = TRIALS / 3 and TRIALS, clipped at 2.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>

#include "samplers/sampler.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

struct Problem {
  std::string name;
  SearchSpace space;
  std::function<double(const Params&)> f;
  double least;
};

double Number(const Params& params, const char* name) {
  const ParamValue& value = params.at(name);
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  return std::get<double>(value);
}
const std::string& Word(const Params& params, const char* name) {
  return std::get<std::string>(params.at(name));
}

FloatDomain Linear(double low, double high) { return {.lower = low, .upper = high}; }
FloatDomain Log(double low, double high) {
  return {.lower = low, .upper = high, .log = true};
}

SearchSpace Box(int dimensions, double half) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < dimensions; ++i) {
    parameters.push_back({fmt::format("x{}", i), Linear(-half, half)});
  }
  return SearchSpace(std::move(parameters));
}

std::vector<double> Xs(const Params& params) {
  std::vector<double> x;
  for (size_t i = 0; i < params.size(); ++i) {
    x.push_back(Number(params, fmt::format("x{}", i).c_str()));
  }
  return x;
}

double Sphere(const Params& params) {
  const double at[] = {1.3, -2.1, 0.4, 3.2, -0.7};
  double sum = 0;
  const std::vector<double> x = Xs(params);
  for (size_t i = 0; i < x.size(); ++i) sum += (x[i] - at[i]) * (x[i] - at[i]);
  return sum + 37;
}

double Rosenbrock(const Params& params) {
  const std::vector<double> x = Xs(params);
  double sum = 0;
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    const double a = x[i + 1] - x[i] * x[i], b = x[i] - 1;
    sum += 100 * a * a + b * b;
  }
  return sum;
}

double Branin(const Params& params) {
  const double x = Number(params, "x0") * 1.5 + 2.5,
               y = Number(params, "x1") * 1.5 + 7.5;
  const double a = y - 5.1 / (4 * M_PI * M_PI) * x * x + 5 / M_PI * x - 6;
  return a * a + 10 * (1 - 1 / (8 * M_PI)) * std::cos(x) + 10;
}

// Two categories choose which functions are added (after CoCaBO's Func2C).
double Chosen(const Params& params) {
  const double x = 2 * Number(params, "x"), y = 2 * Number(params, "y");
  const auto part = [&](const std::string& which) {
    if (which == "rosen")
      return (100 * std::pow(y - x * x, 2) + std::pow(x - 1, 2)) / 300;
    if (which == "camel") {
      return ((4 - 2.1 * x * x + x * x * x * x / 3) * x * x + x * y +
              (4 * y * y - 4) * y * y) /
             10;
    }
    if (which == "flat") return 0.3;
    return (std::pow(1.5 - x + x * y, 2) + std::pow(2.25 - x + x * y * y, 2)) / 50;
  };
  return part(Word(params, "a")) + part(Word(params, "b"));
}

// A cheap training: the best rate depends on the optimiser, too high a rate diverges,
// small effects of the rest, and the roughness that another seed would have.
double Training(const Params& params) {
  const double rate = std::log10(Number(params, "rate"));
  const double decay = std::log10(Number(params, "decay"));
  const double width = std::log2(Number(params, "width"));
  const double layers = Number(params, "layers");
  const std::string& optimizer = Word(params, "optimizer");
  const double best = optimizer == "sgd" ? -0.9 : optimizer == "adam" ? -3 : -2.2;
  const double off = rate - best + 0.2 * (layers - 3) + 0.1 * (width - 6);
  if (off > 1.2) return 2.3;
  double loss = 0.3 + 0.9 * (1 - std::exp(-0.5 * off * off)) + 0.6 / (width + 1);
  loss += 0.03 * std::fabs(layers - 3) + 0.02 * std::max(0.0, decay + 3);
  loss += optimizer == "sgd" ? 0.04 : optimizer == "adam" ? 0 : 0.02;
  loss += Word(params, "activation") == "relu" ? 0 : 0.05;
  loss += 0.3 * std::pow(Number(params, "dropout") - 0.2, 2);
  Rng rough(
      7, TrialId(static_cast<int64_t>(1e4 * (rate + decay + width + layers))), "r");
  return loss + 0.004 * rough.Normal();
}

// A tree: few steps, much that has no effect, plateaus.
double Tree(const Params& params) {
  const double depth = Number(params, "depth"), leaf = Number(params, "leaf");
  const double impurity = std::log10(Number(params, "impurity"));
  double loss =
      1.2 * std::exp(-0.5 * std::min(depth, 9.0)) + 0.02 * std::max(0.0, depth - 9);
  loss += 0.15 * std::pow(std::log2(leaf / 4.0), 2) / 4;
  loss += impurity > -1.8 ? 1.0 + 0.3 * (impurity + 1.8)
                          : 0.05 * std::max(0.0, impurity + 3);
  loss += 0.3 * std::pow(Number(params, "features") - 0.45, 2);
  loss += Word(params, "criterion") == "gini" ? 0.02 : 0;
  const auto cell =
      static_cast<int64_t>(depth * 1000 + leaf + 50 * Number(params, "features"));
  return loss + 0.01 * Rng(3, TrialId(cell), "tree").Normal();
}

// Regularised regression: a narrow valley, a cliff to a constant, categories of little
// effect.
double Lasso(const Params& params) {
  const double alpha = std::log10(Number(params, "alpha"));
  const double ratio = Number(params, "ratio");
  const double z = alpha + 1.2 - 0.8 * (ratio - 0.5);
  double loss = z > 1.6 ? 1.0 : 0.48 + 0.1 * z * z * (z < 0 ? 0.3 : 1);
  loss += Word(params, "degree") == "two" ? 0.05 * std::exp(-alpha - 1) / 5 : 0.02;
  loss += Word(params, "positive") == "yes" ? 0.04 : 0;
  return std::min(loss, 1.0);
}

std::vector<Problem> Problems() {
  const CategoricalDomain which{{std::string("rosen"),
                                 std::string("camel"),
                                 std::string("beale"),
                                 std::string("flat")}};
  const CategoricalDomain yes_no{{std::string("yes"), std::string("no")}};
  return {
      {"sphere d5", Box(5, 5), Sphere, 37},
      {"rosenbrock d3", Box(3, 5), Rosenbrock, 0},
      {"branin", Box(2, 5), Branin, 0.397887},
      {"chosen",
       SearchSpace(
           {{"x", Linear(-1, 1)}, {"y", Linear(-1, 1)}, {"a", which}, {"b", which}}),
       Chosen,
       -0.20632569},
      {"training",
       SearchSpace(
           {{"rate", Log(1e-6, 10)},
            {"decay", Log(1e-8, 0.1)},
            {"width", IntDomain{.lower = 8, .upper = 512, .log = true}},
            {"layers", IntDomain{.lower = 1, .upper = 8}},
            {"dropout", Linear(0, 0.9)},
            {"optimizer",
             CategoricalDomain{
                 {std::string("sgd"), std::string("adam"), std::string("momentum")}}},
            {"activation",
             CategoricalDomain{{std::string("relu"),
                                std::string("tanh"),
                                std::string("logistic")}}}}),
       Training,
       0.34},
      {"tree",
       SearchSpace(
           {{"depth", IntDomain{.lower = 1, .upper = 20}},
            {"leaf", IntDomain{.lower = 1, .upper = 60, .log = true}},
            {"features", Linear(0.05, 1)},
            {"split", Log(1e-3, 0.5)},
            {"impurity", Log(1e-6, 0.2)},
            {"criterion",
             CategoricalDomain{{std::string("gini"), std::string("entropy")}}}}),
       Tree,
       -0.03},
      {"lasso",
       SearchSpace(
           {{"degree", CategoricalDomain{{std::string("one"), std::string("two")}}},
            {"alpha", Log(1e-4, 10)},
            {"ratio", Linear(0, 1)},
            {"tol", Log(1e-5, 0.1)},
            {"positive", yes_no},
            {"selection", yes_no}}),
       Lasso,
       0.47},
  };
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
  double total[2] = {};
  int count = 0;
  for (const Problem& problem : Problems()) {
    if (!only.empty() && problem.name.find(only) == std::string::npos) continue;
    double sums[2] = {};
    const int at[2] = {trials / 3 - 1, trials - 1};
    std::vector<double> random[2];
    for (int i = 0; i < 101; ++i) {
      const auto best = Search(
          problem, SamplerKind::kRandom, 1000 + static_cast<uint64_t>(i), trials);
      for (int n = 0; n < 2; ++n) random[n].push_back(best[static_cast<size_t>(at[n])]);
    }
    const auto start = std::chrono::steady_clock::now();
    for (int seed = 0; seed < seeds; ++seed) {
      const auto best = Search(problem, kind, static_cast<uint64_t>(seed), trials);
      for (int n = 0; n < 2; ++n) {
        std::ranges::sort(random[n]);
        const double unit = random[n][50] - problem.least;
        sums[n] += std::clamp(
            (best[static_cast<size_t>(at[n])] - problem.least) / unit, 0.0, 2.0);
      }
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-14s %6.3f %6.3f   %7.2f ms a proposal\n",
                problem.name.c_str(),
                sums[0] / seeds,
                sums[1] / seeds,
                1e3 * seconds / seeds / trials);
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
  for (int i = 0; i < size + 4; ++i) {
    if (i >= size) {
      const auto start = std::chrono::steady_clock::now();
      sampler->Suggest(TrialId(i), history);
      std::printf(
          "history %d: %.3f ms\n",
          i,
          1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
                    .count());
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

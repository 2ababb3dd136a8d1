// What a sampler's front of several objectives is worth.
//
//   sampler_front KIND [SEEDS [TRIALS [PROBLEM]]]
//   sampler_front time KIND HISTORY [OBJECTIVES]
//
// KIND: random, tpe, gp.
//
// The first prints for each problem the mean over the seeds, with its standard error,
// of (volume below a reference point that the true front dominates, less that of the
// front found) / (the same of random's median) after TRIALS / 3 and after TRIALS, and
// what a proposal costs. The second what proposals cost in 6 dimensions after so many
// trials.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <numbers>

#include "samplers/internal/hypervolume.h"
#include "samplers/sampler.h"
#include "tests/bench/sampler_problems.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

struct FrontProblem {
  std::string name;
  SearchSpace space;
  std::function<Point(const Params&)> f;
  Point reference;
  double most;       // volume of the true front
  double noise = 0;  // of what a sampler is told; a standard deviation
};

double X(const Params& params, int i) {
  return Number(params, fmt::format("x{}", i).c_str());
}

SearchSpace Cube(int dimensions) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < dimensions; ++i) {
    parameters.push_back({fmt::format("x{}", i), Linear(0, 1)});
  }
  return SearchSpace(parameters);
}

// The volume of the points (t, f2(t)).
double VolumeOf(const std::function<double(double)>& f2, const Point& reference) {
  std::vector<Point> points;
  for (int i = 0; i <= 4000; ++i) points.push_back({i / 4000.0, f2(i / 4000.0)});
  return internal::Hypervolume(points, reference);
}

// Zitzler, Deb, Thiele (2000), in 6 dimensions: 1 and 2 differ in the front's bend.
FrontProblem Zdt(int number) {
  const double power = number == 1 ? 0.5 : 2;
  const Point reference = {1.1, 3};
  const auto f = [power](const Params& params) -> Point {
    double g = 1;
    for (int i = 1; i < 6; ++i) g += 9.0 / 5 * X(params, i);
    return {X(params, 0), g * (1 - std::pow(X(params, 0) / g, power))};
  };
  const auto front = [power](double t) { return 1 - std::pow(t, power); };
  return {
      fmt::format("zdt{}", number), Cube(6), f, reference, VolumeOf(front, reference)};
}

// Deb, Thiele, Laumanns, Zitzler (2005): an eighth of a sphere, in 6 dimensions.
FrontProblem Dtlz2() {
  const auto f = [](const Params& params) -> Point {
    double g = 1;
    for (int i = 2; i < 6; ++i) g += std::pow(X(params, i) - 0.5, 2);
    const double a = X(params, 0) * std::numbers::pi / 2;
    const double b = X(params, 1) * std::numbers::pi / 2;
    return {
        g * std::cos(a) * std::cos(b), g * std::cos(a) * std::sin(b), g * std::sin(a)};
  };
  const double side = 1.2;
  return {"dtlz2",
          Cube(6),
          f,
          {side, side, side},
          std::pow(side, 3) - std::numbers::pi / 6};
}

// A network's loss against what it takes: more units, layers and epochs lose less and
// take longer, each optimiser has a learning rate of its own, dropout only costs.
FrontProblem Training(double noise) {
  const SearchSpace space({{"rate", Log(1e-5, 1)},
                           {"units", Whole(8, 512, true)},
                           {"layers", Whole(1, 6)},
                           {"dropout", Linear(0, 0.8)},
                           {"optimiser", OneOf({"adam", "sgd", "lion"})},
                           {"activation", OneOf({"relu", "gelu", "tanh", "none"})}});
  // Of units and layers alone, all else at its best: `off` is 0.
  const auto values = [](double units, double layers, double off) -> Point {
    const double size = std::log2(units / 8) / 6 + 0.25 * std::sqrt(layers - 1);
    return {0.1 + 0.9 * std::exp(-1.5 * size) + off,
            std::log10(1 + units * units * layers / 64)};
  };
  const auto f = [values](const Params& params) {
    static const std::map<std::string, double> best = {
        {"adam", -3}, {"sgd", -1}, {"lion", -4}};
    static const std::map<std::string, double> lost = {
        {"relu", 0.02}, {"gelu", 0}, {"tanh", 0.1}, {"none", 0.4}};
    const std::string& word = Word(params, "optimiser");
    const double rate = std::log10(Number(params, "rate")) - best.at(word);
    const double off = 0.15 * rate * rate + lost.at(Word(params, "activation")) +
                       (word == "sgd" ? 0.05 : 0) +
                       0.5 * std::pow(Number(params, "dropout") - 0.2, 2);
    return values(Number(params, "units"), Number(params, "layers"), off);
  };
  std::vector<Point> all;
  for (int units = 8; units <= 512; ++units) {
    for (int layers = 1; layers <= 6; ++layers) all.push_back(values(units, layers, 0));
  }
  const Point reference = {1.5, 5};
  return {noise > 0 ? "noisy" : "training",
          space,
          f,
          reference,
          internal::Hypervolume(all, reference),
          noise};
}

// Three kinds of model of which each is on a part of the front: error against size,
// in steps, as trees and small test sets have it.
FrontProblem Models() {
  const SearchSpace space({{"model", OneOf({"linear", "forest", "network"})},
                           {"size", Linear(0, 1)},
                           {"depth", Whole(1, 12)},
                           {"penalty", Log(1e-4, 10)}});
  static const std::map<std::string, Point> kinds = {
      {"linear", {0.6, 0.05}}, {"forest", {0.3, 0.3}}, {"network", {0.1, 0.7}}};
  const auto values = [](const Point& kind, double size, double off) -> Point {
    const double error = kind[0] + 0.25 * std::pow(1 - size, 2) + off;
    return {std::round(error * 200) / 200, kind[1] + 0.25 * size};
  };
  const auto f = [values](const Params& params) {
    const std::string& word = Word(params, "model");
    const double depth = word == "forest" ? 9 : word == "network" ? 3 : 1;
    const double penalty = word == "linear" ? 0 : -2;
    const double off =
        0.02 * std::abs(Number(params, "depth") - depth) +
        0.06 * std::pow(std::log10(Number(params, "penalty")) - penalty, 2);
    return values(kinds.at(word), Number(params, "size"), off);
  };
  std::vector<Point> all;
  for (const auto& [name, kind] : kinds) {
    for (int i = 0; i <= 2000; ++i) all.push_back(values(kind, i / 2000.0, 0));
  }
  const Point reference = {1.2, 1};
  return {"models", space, f, reference, internal::Hypervolume(all, reference)};
}

// The same network with a third objective: how long it takes to answer.
FrontProblem Answering() {
  FrontProblem problem = Training(0);
  const auto loss_and_size = problem.f;
  static const std::map<std::string, double> slow = {
      {"relu", 0}, {"gelu", 0.15}, {"tanh", 0.1}, {"none", 0}};
  problem.name = "answering";
  problem.f = [loss_and_size](const Params& params) {
    Point point = loss_and_size(params);
    point.push_back(0.15 * Number(params, "layers") +
                    slow.at(Word(params, "activation")));
    return point;
  };
  std::vector<Point> all;
  for (int64_t units = 8; units <= 512; units += units < 64 ? 1 : 8) {
    for (int64_t layers = 1; layers <= 6; ++layers) {
      for (const auto& [word, seconds] : slow) {
        all.push_back(problem.f({{"rate", 1e-3},
                                 {"units", units},
                                 {"layers", layers},
                                 {"dropout", 0.2},
                                 {"optimiser", std::string("adam")},
                                 {"activation", word}}));
      }
    }
  }
  std::vector<Point> front;
  for (size_t k : ParetoFrontOf(all)) front.push_back(all[k]);
  problem.reference.push_back(1.2);
  problem.most = internal::Hypervolume(front, problem.reference);
  return problem;
}

SamplerKind KindOf(const std::string& word) {
  static const std::map<std::string, SamplerKind> kinds = {
      {"random", SamplerKind::kRandom},
      {"tpe", SamplerKind::kTpe},
      {"gp", SamplerKind::kGp}};
  return kinds.at(word);
}

HistoryEntry EntryOf(int id, const Params& params, const Point& point) {
  HistoryEntry entry{TrialId(id), TrialState::kCompleted, params};
  entry.objective = Objective::Of(point[0]);
  entry.seconds = 1;
  for (size_t i = 1; i < point.size(); ++i) {
    entry.others.push_back(Objective::Of(point[i]));
  }
  return entry;
}

// What is left of the true front's volume after TRIALS / 3, and after TRIALS.
std::array<double, 2> Left(const FrontProblem& problem,
                           SamplerKind kind,
                           uint64_t seed,
                           int trials) {
  SamplerOptions options = {.kind = kind, .seed = seed, .num_samples = trials};
  options.other_goals.assign(problem.reference.size() - 1, Goal::kMinimize);
  const auto sampler = MakeSampler(problem.space, options);
  History history;
  std::vector<Point> points;
  Rng noise(seed, TrialId(0), "noise");
  std::array<double, 2> left = {};
  for (int i = 0; i < trials; ++i) {
    const Params params = sampler->Suggest(TrialId(i), history).value();
    points.push_back(problem.f(params));
    Point told = points.back();
    for (double& v : told) v += problem.noise * noise.Normal();
    history.ended.push_back(EntryOf(i, params, told));
    const double volume =
        i + 1 == trials / 3 || i + 1 == trials
            ? problem.most - internal::Hypervolume(points, problem.reference)
            : 0;
    if (i + 1 == trials / 3) left[0] = volume;
    if (i + 1 == trials) left[1] = volume;
  }
  return left;
}

void Quality(SamplerKind kind, int seeds, int trials, const std::string& only) {
  constexpr int kRandoms = 21;
  std::vector<double> total[2];
  for (const FrontProblem& problem :
       {Zdt(1), Zdt(2), Dtlz2(), Training(0), Training(0.1), Models(), Answering()}) {
    if (!only.empty() && problem.name != only) continue;
    std::vector<double> random[2], shares[2];
    for (int i = 0; i < kRandoms; ++i) {
      const auto left =
          Left(problem, SamplerKind::kRandom, 1000 + static_cast<uint64_t>(i), trials);
      for (size_t n = 0; n < 2; ++n) random[n].push_back(left[n]);
    }
    const std::clock_t start = std::clock();
    for (int seed = 0; seed < seeds; ++seed) {
      const auto left = Left(problem, kind, static_cast<uint64_t>(seed), trials);
      for (size_t n = 0; n < 2; ++n) {
        std::ranges::sort(random[n]);
        shares[n].push_back(left[n] / random[n][kRandoms / 2]);
      }
    }
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::printf("%-10s", problem.name.c_str());
    for (size_t n = 0; n < 2; ++n) {
      double mean = 0, square = 0;
      for (double share : shares[n]) mean += share / seeds;
      for (double share : shares[n]) square += std::pow(share - mean, 2);
      std::printf("  %6.3f (%.3f)", mean, std::sqrt(square / seeds / (seeds - 1)));
      total[n].push_back(mean);
    }
    std::printf("  %7.2f ms a proposal\n", 1e3 * seconds / seeds / trials);
    std::fflush(stdout);
  }
  std::printf("%-10s", "mean");
  for (const auto& means : total) {
    double sum = 0;
    for (double mean : means) sum += mean;
    std::printf("  %6.3f        ", sum / static_cast<double>(means.size()));
  }
  std::printf("\n");
}

// Values of a sphere's part: every trial near the front is on it.
Point Costly(const Params& params, size_t objectives) {
  double g = 1;
  for (int i = 3; i < 6; ++i) g += std::pow(X(params, i) - 0.5, 2);
  Point point(objectives, g);
  for (size_t i = 0; i < objectives; ++i) {
    for (size_t j = 0; j < i; ++j) {
      point[i] *= std::cos(X(params, static_cast<int>(j)) * std::numbers::pi / 2);
    }
    if (i + 1 < objectives) {
      point[i] *= std::sin(X(params, static_cast<int>(i)) * std::numbers::pi / 2);
    }
  }
  return point;
}

void Time(SamplerKind kind, int size, size_t objectives) {
  const SearchSpace space = Cube(6);
  SamplerOptions options = {.kind = kind, .num_samples = size + 10};
  options.other_goals.assign(objectives - 1, Goal::kMinimize);
  const auto sampler = MakeSampler(space, options);
  const auto random =
      MakeSampler(space, {.kind = SamplerKind::kRandom, .num_samples = size + 10});
  History history;
  for (int i = 0; i < size + 8; ++i) {
    const std::clock_t start = std::clock();
    Params params = random->Suggest(TrialId(i), history).value();
    if (i >= size) {
      params = sampler->Suggest(TrialId(i), history).value();
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      std::printf("history %d: %.3f ms of CPU time\n", i, 1e3 * seconds);
    }
    history.ended.push_back(EntryOf(i, params, Costly(params, objectives)));
  }
}

}  // namespace
}  // namespace hyperopt

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    std::fprintf(stderr, "usage: sampler_front KIND [SEEDS [TRIALS [PROBLEM]]]\n");
    return 2;
  }
  if (words[0] == "time") {
    hyperopt::Time(hyperopt::KindOf(words.at(1)),
                   std::stoi(words.at(2)),
                   words.size() > 3 ? std::stoul(words[3]) : 2);
    return 0;
  }
  hyperopt::Quality(hyperopt::KindOf(words[0]),
                    words.size() > 1 ? std::stoi(words[1]) : 5,
                    words.size() > 2 ? std::stoi(words[2]) : 60,
                    words.size() > 3 ? words[3] : "");
}

#include <fmt/format.h>

#include <cmath>

#include "tests/bench/sampler_problems.h"
#include "trial/rng.h"

namespace hyperopt {

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

IntDomain Whole(int64_t low, int64_t high, bool log) {
  return {.lower = low, .upper = high, .log = log};
}
CategoricalDomain OneOf(std::initializer_list<const char*> words) {
  CategoricalDomain domain;
  for (const char* word : words) domain.values.emplace_back(std::string(word));
  return domain;
}

namespace {

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

// 21 peaks, of which the highest is narrow (after BBOB's Gallagher).
double Peaks(const Params& params) {
  const std::vector<double> x = Xs(params);
  Rng rng(11, TrialId(0), "peaks");
  double most = 0;
  for (int k = 0; k < 21; ++k) {
    const double height = k == 0 ? 10 : 1.1 + 8.0 * (k - 1) / 19;
    const double narrow = std::pow(1000.0, k == 0 ? 0.5 : rng.Uniform());
    double square = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double off = x[i] - (8 * rng.Uniform() - 4);
      square += off * off * std::pow(narrow, i % 2 == 0 ? 0.25 : -0.25);
    }
    const auto d = static_cast<double>(x.size());
    most = std::max(most, height * std::exp(-0.5 * square / d));
  }
  return std::pow(10 - most, 1.5);
}

double Rastrigin(const Params& params) {
  double sum = 0;
  for (double x : Xs(params)) {
    const double z = x - 0.7;
    sum += z * z + 4 * (1 - std::cos(2 * M_PI * z / 2.5));
  }
  return sum;
}

double Ellipsoid(const Params& params) {
  const std::vector<double> x = Xs(params);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double z = x[i] + (i > 0 ? 0.5 * x[i - 1] : 0) - 1.2;
    sum += std::pow(10, static_cast<double>(i)) * z * z;
  }
  return sum;
}

}  // namespace

std::vector<Problem> FormulaProblems() {
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
       0.345},
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
       0.0},
      {"lasso",
       SearchSpace(
           {{"degree", CategoricalDomain{{std::string("one"), std::string("two")}}},
            {"alpha", Log(1e-4, 10)},
            {"ratio", Linear(0, 1)},
            {"tol", Log(1e-5, 0.1)},
            {"positive", yes_no},
            {"selection", yes_no}}),
       Lasso,
       0.488},
      {"peaks d2", Box(2, 5), Peaks, 0},
      {"rastrigin d3", Box(3, 5), Rastrigin, 0},
      {"ellipsoid d4", Box(4, 5), Ellipsoid, 0},
  };
}

}  // namespace hyperopt

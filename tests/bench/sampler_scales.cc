// What users write whose parameters matter on another scale than the search file's: a
// learning rate without its `log`, sizes whose effect doubles with each doubling.
#include <cmath>

#include "tests/bench/sampler_problems.h"

namespace hyperopt {
namespace {

double Bowl(double x, double at, double width) {
  const double z = (x - at) / width;
  return 1 - std::exp(-0.5 * z * z);
}

double Log10(const Params& params, const char* name) {
  return std::log10(Number(params, name));
}

double Rates(const Params& params) {
  const double slow = std::log10(1 - Number(params, "momentum"));
  return Bowl(Log10(params, "rate") + 0.6 * (slow + 1), -2.3, 0.5) +
         0.4 * Bowl(Log10(params, "decay"), -3.2, 0.6) + 0.4 * Bowl(slow, -1.1, 0.5);
}

double Cliff(const Params& params) {
  const double rate = Log10(params, "rate");
  const double best = Word(params, "optimizer") == "sgd" ? -1.3 : -2.4;
  return Bowl(rate, best, 0.6) + (rate > best + 0.9 ? 1.5 : 0.0) +
         0.3 * std::pow(Number(params, "dropout") - 0.2, 2);
}

double Leaves(const Params& params) {
  return Bowl(std::log2(Number(params, "leaf")), 2, 1) +
         0.7 * Bowl(std::log2(Number(params, "depth")), 3.4, 0.8) +
         0.5 * std::pow(std::sqrt(Number(params, "features")) - 0.45, 2);
}

double Kernel(const Params& params) {
  const double c = Log10(params, "c"), gamma = Log10(params, "gamma");
  return Bowl(c + 0.5 * gamma, -0.2, 0.6) + 0.6 * Bowl(gamma, -1.4, 0.5);
}

double Late(const Params& params) {
  return Bowl(std::log10(1 - Number(params, "discount")), -2, 0.4) +
         0.7 * Bowl(std::log10(1 - Number(params, "trace")), -1.2, 0.4) +
         0.5 * std::pow(Number(params, "clip") - 0.3, 2);
}

}  // namespace

std::vector<Problem> ScaleProblems() {
  return {
      {"rates as they are",
       SearchSpace({{"rate", Linear(1e-5, 1)},
                    {"decay", Linear(1e-6, 0.1)},
                    {"momentum", Linear(0, 0.999)}}),
       Rates,
       0},
      {"rate, a cliff",
       SearchSpace({{"rate", Linear(1e-5, 1)},
                    {"dropout", Linear(0, 0.9)},
                    {"optimizer", OneOf({"sgd", "adam"})}}),
       Cliff,
       0},
      {"leaves",
       SearchSpace({{"leaf", Whole(1, 500)},
                    {"depth", Whole(1, 64)},
                    {"features", Linear(0.01, 1)}}),
       Leaves,
       0},
      {"penalty",
       SearchSpace({{"c", Linear(1e-3, 100)}, {"gamma", Linear(1e-4, 1)}}),
       Kernel,
       0},
      {"near one",
       SearchSpace({{"discount", Linear(0.5, 0.9999)},
                    {"trace", Linear(0, 0.999)},
                    {"clip", Linear(0, 1)}}),
       Late,
       0},
  };
}

}  // namespace hyperopt

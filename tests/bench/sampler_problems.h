// Functions to minimise for sampler_quality: of their own, so that a sampler is not
// tuned to the problems it is compared with others on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trial/param_value.h"
#include "trial/space.h"

namespace hyperopt {

struct Problem {
  std::string name;
  SearchSpace space;
  std::function<double(const Params&)> f;
  double least;  // known, or the least that long runs have met
};

double Number(const Params& params, const char* name);
const std::string& Word(const Params& params, const char* name);
FloatDomain Linear(double low, double high);
FloatDomain Log(double low, double high);
IntDomain Whole(int64_t low, int64_t high, bool log = false);
CategoricalDomain OneOf(std::initializer_list<const char*> words);

// Formulas that imitate what tuning meets: scales, plateaus, cliffs, categories that
// change everything or nothing, parameters without effect, rough values.
std::vector<Problem> FormulaProblems();
// Small models that are trained on made data: kernels, trees, neighbours, a network.
std::vector<Problem> LearnerProblems();
// Parameters on another scale than they matter on.
std::vector<Problem> ScaleProblems();

}  // namespace hyperopt

#include "samplers/sampler.h"

#include <fmt/format.h>

#include <cassert>

#include "samplers/internal/fill.h"
#include "samplers/internal/list.h"
#include "samplers/internal/model_sampler.h"
#include "samplers/internal/variants.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

using Problems = std::vector<std::string>;

// `what` is the option that holds `settings`.
void CheckValues(const SearchSpace& space,
                 const char* what,
                 const std::vector<Params>& settings,
                 Problems& problems) {
  for (size_t i = 0; i < settings.size(); ++i) {
    // One value at a time, so that each wrong one is named.
    for (const auto& item : settings[i]) {
      if (const auto problem = space.ProblemWith({item})) {
        problems.push_back(fmt::format("{}[{}].{}", what, i, *problem));
      }
    }
    if (!problems.empty()) continue;
    if (const auto problem = space.ProblemWith(settings[i])) {
      problems.push_back(fmt::format("{}[{}].{}", what, i, *problem));
    } else if (const Constraint* constraint = space.Violated(settings[i])) {
      problems.push_back(fmt::format(
          "{}[{}]: constraint {} does not hold", what, i, constraint->text()));
    }
  }
}

void CheckList(const SearchSpace& space,
               const SamplerOptions& options,
               Problems& problems) {
  CheckValues(space, "rows", options.rows, problems);
  if (options.rows.empty()) problems.push_back("a list has no rows");
  if (!options.points_to_evaluate.empty()) {
    problems.push_back(
        "points_to_evaluate has no use with a list: write them as its first rows");
  }
}

void CheckPoints(const SearchSpace& space,
                 const SamplerOptions& options,
                 Problems& problems) {
  const auto& points = options.points_to_evaluate;
  CheckValues(space, "points_to_evaluate", points, problems);
  if (std::ssize(points) > options.num_samples) {
    problems.push_back(fmt::format(
        "points_to_evaluate has {} points, and each takes one of num_samples ({})",
        points.size(),
        options.num_samples));
  }
}

bool IsModelBased(SamplerKind kind) {
  return kind == SamplerKind::kSobol || kind == SamplerKind::kTpe ||
         kind == SamplerKind::kGp || kind == SamplerKind::kCmaes ||
         kind == SamplerKind::kAuto;
}

void CheckNumbers(const SearchSpace& space, Problems& problems) {
  const internal::Encoding encoding(space);
  for (const internal::Axis& axis : encoding.axes()) {
    if (axis.kind != internal::AxisKind::kCategorical) continue;
    const Parameter& parameter = space.parameters()[axis.parameter];
    problems.push_back(fmt::format(
        "{}: cmaes searches numbers alone, and this is {}: take auto, gp or tpe",
        parameter.name,
        Describe(parameter.domain)));
  }
  if (space.is_conditional()) {
    problems.emplace_back(
        "cmaes searches parameters that all take part, and some have `when`: take "
        "auto, "
        "gp or tpe");
  }
  if (encoding.size() == 0 && problems.empty()) {
    problems.emplace_back("cmaes has nothing to search: every parameter has one value");
  }
}

void CheckGrid(const SearchSpace& space, Problems& problems) {
  for (const Parameter& parameter : space.parameters()) {
    if (Cardinality(parameter.domain)) continue;
    problems.push_back(fmt::format(
        "{}: a grid can not run through {}: list its values (space: grid_search), give "
        "it a step, or take search_alg random",
        parameter.name,
        Describe(parameter.domain)));
  }
}

}  // namespace

std::vector<std::string> ProblemsWith(const SearchSpace& space,
                                      const SamplerOptions& options) {
  Problems problems;
  if (options.num_samples < 1) {
    problems.push_back(
        fmt::format("num_samples ({}) must be 1 or more", options.num_samples));
  }
  if (options.kind == SamplerKind::kList) {
    CheckList(space, options, problems);
    return problems;
  }
  CheckPoints(space, options, problems);
  if (!problems.empty()) return problems;
  if (options.kind != SamplerKind::kGrid) {
    if (auto problem = internal::ProblemWithConstraints(space, options.seed)) {
      problems.push_back(*std::move(problem));
      return problems;
    }
  }
  if (options.kind == SamplerKind::kCmaes) CheckNumbers(space, problems);
  if (IsModelBased(options.kind)) {
    if (options.num_samples > internal::kMostTrials) {
      problems.push_back(fmt::format("more than {} trials", internal::kMostTrials));
    }
    return problems;
  }
  if (options.kind == SamplerKind::kGrid) CheckGrid(space, problems);
  if (!problems.empty()) return problems;
  const std::optional<int64_t> count = internal::CountTrials(space, options);
  if (!count) {
    problems.push_back(fmt::format(
        "more than {} trials: num_samples times the cells of the grid{}",
        internal::kMostTrials,
        internal::IsFiltered(space)
            ? fmt::format(", or with `when` or constraints more than {} cells",
                          internal::kMostFiltered)
            : ""));
  } else if (*count == 0) {
    problems.emplace_back("the constraints leave no cell of the grid");
  }
  return problems;
}

std::unique_ptr<Sampler> MakeSampler(const SearchSpace& space,
                                     const SamplerOptions& options) {
  const Problems problems = ProblemsWith(space, options);
  if (!problems.empty())
    throw ConfigError(fmt::format("{}", fmt::join(problems, "\n")));
  switch (options.kind) {
    case SamplerKind::kRandom:
    case SamplerKind::kGrid:
      return internal::MakeVariantSampler(space, options);
    case SamplerKind::kList:
      return internal::MakeListSampler(space, options);
    case SamplerKind::kSobol:
    case SamplerKind::kTpe:
    case SamplerKind::kGp:
    case SamplerKind::kCmaes:
    case SamplerKind::kAuto:
      return internal::MakeModelSampler(space, options);
  }
  assert(false && "a kind of sampler without a class");
  return nullptr;
}

std::string DescribeAuto(const SearchSpace& space) {
  const internal::AutoRule rule = internal::RuleOfAuto(internal::Encoding(space));
  if (rule.gp_until == 0) return "auto: tpe";
  return fmt::format("auto: gp, from trial {} on tpe", rule.gp_until);
}

}  // namespace hyperopt

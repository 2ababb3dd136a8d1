// What may be tried: one domain a parameter, each with two representations. Users meet
// values; samplers meet the unit cube [0, 1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "trial/param_value.h"
#include "trial/rng.h"

namespace hyperopt {

// [lower, upper]. With `step`: lower + k step for k = 0 .. floor((upper - lower) / step
// + 1e-9), every k as likely, or with `log` by the mass of its cell [v - step/2, v +
// step/2] in log space (clipped at lower and upper). `log` needs lower > 0.
struct FloatDomain {
  double lower = 0;
  double upper = 1;
  bool log = false;
  std::optional<double> step;
  bool operator==(const FloatDomain&) const = default;
};

// lower .. upper, both included, by step from lower. `log` by the mass of each cell
// [k, k + step) in log space; needs lower > 0. The range is never enumerated, and may
// span all of int64.
struct IntDomain {
  int64_t lower = 0;
  int64_t upper = 1;
  bool log = false;
  int64_t step = 1;
  bool operator==(const IntDomain&) const = default;
};

// mean + sd N(0, 1), with q rounded to a multiple of q. sd > 0.
struct NormalDomain {
  double mean = 0;
  double sd = 1;
  std::optional<double> q;
  bool operator==(const NormalDomain&) const = default;
};

// One of the values, each as likely.
struct CategoricalDomain {
  std::vector<ParamValue> values;  // not empty, no duplicates
  bool operator==(const CategoricalDomain&) const = default;
};

// All of the values, one after the other (Ludwig's grid_search).
struct GridDomain {
  std::vector<ParamValue> values;  // not empty, no duplicates
  bool operator==(const GridDomain&) const = default;
};

using Domain =
    std::variant<FloatDomain, IntDomain, NormalDomain, CategoricalDomain, GridDomain>;

// What is wrong with the domain, in words a user can act on; nullopt where it is valid.
std::optional<std::string> ProblemWith(const Domain& domain);

// REQUIRES: ProblemWith(domain) is nullopt for all below.

// The value at u in [0, 1) (1 is taken as the last below it). Monotone in u for
// numbers; uniform u gives the domain's distribution.
ParamValue FromUnit(const Domain& domain, double u);
// A u in [0, 1) with FromUnit(u) == value: the middle of the value's cell, or the exact
// place for a continuous domain. nullopt where the value is not in the domain; an
// integer is taken where a float is asked for (1 for 1.0), nothing else is converted.
std::optional<double> ToUnit(const Domain& domain, const ParamValue& value);
// How many values there are; nullopt where there are infinitely many or over 2^62.
std::optional<int64_t> Cardinality(const Domain& domain);
// One line for a person: "loguniform 1e-05 .. 0.1", "one of sgd, adam".
std::string Describe(const Domain& domain);

struct Parameter {
  std::string name;
  Domain domain;
  bool operator==(const Parameter&) const = default;
};

// The parameters in the order written, which is the order in which their values are
// merged into a configuration. Immutable once built.
class SearchSpace {
 public:
  SearchSpace() = default;
  // Throws ConfigError on a repeated or empty name or an invalid domain. The search
  // file's reader checks the same with places; this guards every other way in.
  explicit SearchSpace(std::vector<Parameter> parameters);

  std::span<const Parameter> parameters() const { return parameters_; }
  const Parameter* Find(std::string_view name) const;
  size_t size() const { return parameters_.size(); }

  // Whether each named value lies in its domain; the text names the first that does
  // not. A parameter that is absent is no problem, an unknown one is.
  std::optional<std::string> ProblemWith(const Params& params) const;

 private:
  std::vector<Parameter> parameters_;
};

}  // namespace hyperopt

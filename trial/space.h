// What may be tried: one domain a parameter, each with two representations. Users meet
// values; samplers meet the unit cube [0, 1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "trial/constraint.h"
#include "trial/param_value.h"
#include "trial/rng.h"

namespace hyperopt {

// [lower, upper]. With `step`: lower + k step for k = 0 .. floor((upper - lower) /
// step), in decimal arithmetic where bounds and step are decimals (0 .. 0.9 by 0.1
// holds 0.3 and 0.9), every k as likely, or with `log` by the mass of its cell [v -
// step/2, v + step/2] in log space (clipped at lower and upper). `log` needs lower > 0.
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
// numbers; uniform u gives the domain's distribution. A float or normal domain gives a
// double, an int domain an int64_t, the others a value of their list.
ParamValue FromUnit(const Domain& domain, double u);
// A draw from the domain's distribution. As FromUnit of a uniform u, but without u's
// limit of 53 bits where all values are as likely: each int64 can come.
ParamValue Draw(const Domain& domain, Rng& rng);
// A u in [0, 1) with FromUnit(u) == value: the middle of the value's cell, or the place
// in a continuous domain, exact up to rounding (a normal one reaches 8.2 sd from its
// mean). nullopt where the value is not in the domain; an integer is taken where a
// float is asked for (1 for 1.0), nothing else is converted. A double has 2^53 places
// in [0, 1): in an integer range with more values both ends are exact, and the others
// to (values / 2^53); with `log` that holds near upper from some 2^44 values on.
std::optional<double> ToUnit(const Domain& domain, const ParamValue& value);
// The value in the type that the domain gives: an integer that a double holds exactly
// becomes one in a float or normal domain, all else stays as it is.
ParamValue Typed(const Domain& domain, const ParamValue& value);
// How many values there are; nullopt where there are infinitely many or over 2^62.
std::optional<int64_t> Cardinality(const Domain& domain);
// Value number `index` in ascending order, or in that of the list.
// REQUIRES: 0 <= index < Cardinality.
ParamValue ValueAt(const Domain& domain, int64_t index);
// One line for a person: "loguniform 1.0e-05 .. 0.1", "one of sgd, adam".
std::string Describe(const Domain& domain);

// A parameter takes part in a trial only where `parent` takes part and has one of
// these values.
struct Condition {
  std::string parent;
  std::vector<ParamValue> values;  // not empty, of the parent's domain
  bool operator==(const Condition&) const = default;
};

struct Parameter {
  std::string name;
  Domain domain;
  std::vector<Condition> when = {};  // all of them must hold
  bool operator==(const Parameter&) const = default;
};

// The parameters in the order written, which is the order in which their values are
// merged into a configuration, and what must hold between them. Immutable once built.
class SearchSpace {
 public:
  SearchSpace() = default;
  // Throws ConfigError on a repeated or empty name, an invalid domain, a condition on
  // an unknown parameter or a value that it never has, conditions in a circle, a
  // constraint that names an unknown parameter. The search file's reader checks the
  // same with places; this guards every other way in.
  explicit SearchSpace(std::vector<Parameter> parameters,
                       std::vector<Constraint> constraints = {});

  std::span<const Parameter> parameters() const { return parameters_; }
  std::span<const Constraint> constraints() const { return constraints_; }
  const Parameter* Find(std::string_view name) const;
  size_t size() const { return parameters_.size(); }
  // Whether any parameter has a condition.
  bool is_conditional() const { return is_conditional_; }

  // Whether each named value lies in its domain, and what is named takes part; the text
  // names the first that does not. A parameter that is absent is no problem (nor is one
  // whose condition is on an absent one), an unknown one is. Constraints are not looked
  // at.
  std::optional<std::string> ProblemWith(const Params& params) const;

  // Whether the parameter takes part beside these: each parent of its conditions is
  // there with one of the values. REQUIRES: `params` holds none that takes no part.
  bool TakesPart(const Parameter& parameter, const Params& params) const;
  // What takes part, of values for all parameters; of values for some of them what may
  // take part: a condition on a parameter that is not named holds.
  Params Active(Params params) const;
  // The first constraint that does not hold; nullptr where all do.
  const Constraint* Violated(const Params& params) const;

 private:
  void CheckConditions();

  std::vector<Parameter> parameters_;
  std::vector<Constraint> constraints_;
  std::vector<size_t> parents_first_;  // an order of the parameters
  bool is_conditional_ = false;
};

}  // namespace hyperopt

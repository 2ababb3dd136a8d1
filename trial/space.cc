#include "trial/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "trial/errors.h"
#include "trial/internal/domain_rules.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

using internal::FloatRules;
using internal::IntRules;
using internal::ListRules;
using internal::NormalRules;

// The one place that knows which rules belong to which domain.
FloatRules RulesOf(const FloatDomain& d) { return FloatRules(d); }
IntRules RulesOf(const IntDomain& d) { return IntRules(d); }
NormalRules RulesOf(const NormalDomain& d) { return NormalRules(d); }
ListRules RulesOf(const CategoricalDomain& d) { return ListRules("one of", d.values); }
ListRules RulesOf(const GridDomain& d) { return ListRules("each of", d.values); }

std::optional<std::string> ProblemOf(const FloatDomain& d) {
  return FloatRules::Problem(d);
}
std::optional<std::string> ProblemOf(const IntDomain& d) {
  return IntRules::Problem(d);
}
std::optional<std::string> ProblemOf(const NormalDomain& d) {
  return NormalRules::Problem(d);
}
std::optional<std::string> ProblemOf(const CategoricalDomain& d) {
  return ListRules::Problem(d.values);
}
std::optional<std::string> ProblemOf(const GridDomain& d) {
  return ListRules::Problem(d.values);
}

bool HasValue(const SearchSpace& space,
              const Condition& condition,
              const ParamValue& value) {
  const ParamValue typed = Typed(space.Find(condition.parent)->domain, value);
  return std::ranges::find(condition.values, typed) != condition.values.end();
}

bool HoldsFloats(const Domain& domain) {
  return std::holds_alternative<FloatDomain>(domain) ||
         std::holds_alternative<NormalDomain>(domain);
}

}  // namespace

std::optional<std::string> ProblemWith(const Domain& domain) {
  return std::visit([](const auto& d) { return ProblemOf(d); }, domain);
}

ParamValue FromUnit(const Domain& domain, double u) {
  return std::visit([&](const auto& d) { return RulesOf(d).FromUnit(u); }, domain);
}

ParamValue Draw(const Domain& domain, Rng& rng) {
  return std::visit([&](const auto& d) { return RulesOf(d).Draw(rng); }, domain);
}

std::optional<double> ToUnit(const Domain& domain, const ParamValue& value) {
  const ParamValue typed = Typed(domain, value);
  return std::visit([&](const auto& d) { return RulesOf(d).ToUnit(typed); }, domain);
}

ParamValue Typed(const Domain& domain, const ParamValue& value) {
  constexpr int64_t kExact = int64_t{1} << 53;
  const auto* x = std::get_if<int64_t>(&value);
  if (x == nullptr || !HoldsFloats(domain) || *x > kExact || *x < -kExact) return value;
  return static_cast<double>(*x);
}

std::optional<int64_t> Cardinality(const Domain& domain) {
  return std::visit([](const auto& d) { return RulesOf(d).Cardinality(); }, domain);
}

ParamValue ValueAt(const Domain& domain, int64_t index) {
  return std::visit([&](const auto& d) { return RulesOf(d).ValueAt(index); }, domain);
}

std::string Describe(const Domain& domain) {
  return std::visit([](const auto& d) { return RulesOf(d).Describe(); }, domain);
}

SearchSpace::SearchSpace(std::vector<Parameter> parameters,
                         std::vector<Constraint> constraints)
    : parameters_(std::move(parameters)), constraints_(std::move(constraints)) {
  std::set<std::string_view> names;
  for (const Parameter& parameter : parameters_) {
    if (parameter.name.empty()) throw ConfigError("a parameter has no name");
    if (!names.insert(parameter.name).second) {
      throw ConfigError(fmt::format("parameter {} is there twice", parameter.name));
    }
    if (const auto problem = hyperopt::ProblemWith(parameter.domain)) {
      throw ConfigError(fmt::format("parameter {}: {}", parameter.name, *problem));
    }
  }
  for (const Constraint& constraint : constraints_) {
    for (const std::string& name : constraint.names()) {
      if (Find(name) != nullptr) continue;
      throw ConfigError(fmt::format(
          "constraint {}: {}", constraint.text(), *ProblemWith({{name, {}}})));
    }
  }
  CheckConditions();
}

void SearchSpace::CheckConditions() {
  for (Parameter& parameter : parameters_) {
    for (Condition& condition : parameter.when) {
      is_conditional_ = true;
      if (condition.values.empty()) {
        throw ConfigError(fmt::format("{}: `when` lacks values", parameter.name));
      }
      for (ParamValue& value : condition.values) {
        if (const auto problem = ProblemWith({{condition.parent, value}})) {
          throw ConfigError(fmt::format("{}: when: {}", parameter.name, *problem));
        }
        value = Typed(Find(condition.parent)->domain, value);
      }
    }
  }
  std::set<std::string_view> placed;
  for (bool any = true; any && parents_first_.size() < size();) {
    any = false;
    for (size_t i = 0; i < size(); ++i) {
      const Parameter& parameter = parameters_[i];
      const bool ready = std::ranges::all_of(parameter.when, [&](const Condition& c) {
        return placed.contains(c.parent);
      });
      if (!ready || !placed.insert(parameter.name).second) continue;
      parents_first_.push_back(i);
      any = true;
    }
  }
  for (const Parameter& parameter : parameters_) {
    if (placed.contains(parameter.name)) continue;
    throw ConfigError(
        fmt::format("{}: `when` leads in a circle back to itself or to one that does",
                    parameter.name));
  }
}

const Parameter* SearchSpace::Find(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  return found == parameters_.end() ? nullptr : &*found;
}

std::optional<std::string> SearchSpace::ProblemWith(const Params& params) const {
  for (const auto& [name, value] : params) {
    const Parameter* parameter = Find(name);
    if (parameter == nullptr) {
      std::vector<std::string> known;
      for (const Parameter& p : parameters_) known.push_back(p.name);
      const auto nearest = NearestName(name, known);
      return fmt::format("{}: no such parameter{}",
                         name,
                         nearest ? "; did you mean " + *nearest + "?" : "");
    }
    if (!ToUnit(parameter->domain, value)) {
      return fmt::format("{}: {} is not in its space ({})",
                         name,
                         ToJsonText(value),
                         Describe(parameter->domain));
    }
  }
  for (const auto& [name, value] : params) {
    for (const Condition& condition : Find(name)->when) {
      const auto parent = params.find(condition.parent);
      if (parent == params.end() || HasValue(*this, condition, parent->second))
        continue;
      return fmt::format("{}: takes no part where {} is {}",
                         name,
                         condition.parent,
                         ToJsonText(parent->second));
    }
  }
  return std::nullopt;
}

bool SearchSpace::TakesPart(const Parameter& parameter, const Params& params) const {
  return std::ranges::all_of(parameter.when, [&](const Condition& condition) {
    const auto parent = params.find(condition.parent);
    return parent != params.end() && HasValue(*this, condition, parent->second);
  });
}

Params SearchSpace::Active(Params params) const {
  if (!is_conditional_) return params;
  std::set<std::string_view> out;
  for (const size_t i : parents_first_) {
    const Parameter& parameter = parameters_[i];
    const bool takes_part =
        std::ranges::all_of(parameter.when, [&](const Condition& condition) {
          if (out.contains(condition.parent)) return false;
          const auto parent = params.find(condition.parent);
          return parent == params.end() || HasValue(*this, condition, parent->second);
        });
    if (takes_part) continue;
    params.erase(parameter.name);
    out.insert(parameter.name);
  }
  return params;
}

const Constraint* SearchSpace::Violated(const Params& params) const {
  for (const Constraint& constraint : constraints_) {
    if (!constraint.Holds(params)) return &constraint;
  }
  return nullptr;
}

}  // namespace hyperopt

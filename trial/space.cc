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

SearchSpace::SearchSpace(std::vector<Parameter> parameters)
    : parameters_(std::move(parameters)) {
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
  return std::nullopt;
}

}  // namespace hyperopt

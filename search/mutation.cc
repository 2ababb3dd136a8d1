#include "search/mutation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

namespace hyperopt {
namespace {

double AsDouble(const ParamValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  return std::get<double>(value);
}

// A positive range is moved in by ratio, as Ray does; one that holds zero by as large a
// part of it.
double Moved(double value, double factor, double lower, double upper, bool log) {
  const bool by_ratio = log || lower > 0;
  const double moved =
      by_ratio ? value * factor : value + (factor - 1) * (upper - lower);
  return std::clamp(moved, lower, upper);
}

// Of more values than are numbered: `moved`, where it is one of them.
ParamValue Unlisted(const Domain& domain, double value, double moved) {
  const bool whole = std::holds_alternative<IntDomain>(domain);
  const auto typed = [whole](double at) -> ParamValue {
    constexpr double kMost = 9.2e18;
    if (!whole) return at;
    return static_cast<int64_t>(std::clamp(std::round(at), -kMost, kMost));
  };
  return ToUnit(domain, typed(moved)) ? typed(moved) : typed(value);
}

// The value of a stepped domain next to `moved`, and at least a step from `value` where
// there is one on that side.
ParamValue OnGrid(
    const Domain& domain, double lower, double step, double value, double moved) {
  const std::optional<int64_t> count = Cardinality(domain);
  if (!count) return Unlisted(domain, value, moved);
  const auto place = [&](double at) {
    const double k = std::round((at - lower) / step);
    return static_cast<int64_t>(std::clamp(k, 0.0, static_cast<double>(*count - 1)));
  };
  const int64_t before = place(value);
  int64_t after = place(moved);
  if (after == before && moved != value) after += moved > value ? 1 : -1;
  return ValueAt(domain, std::clamp<int64_t>(after, 0, *count - 1));
}

ParamValue Neighbour(const std::vector<ParamValue>& values,
                     const ParamValue& value,
                     Rng& rng) {
  const auto at = std::ranges::find(values, value);
  const auto place = std::distance(values.begin(), at);
  const auto last = std::ssize(values) - 1;
  const bool up = rng.Below(2) == 0;
  if (last == 0) return value;
  if (place == 0) return values[1];
  if (place == last) return values[last - 1];
  return values[up ? place + 1 : place - 1];
}

struct Perturb {
  const PbtOptions& options;
  const Domain& whole;
  const ParamValue& value;
  Rng& rng;

  double Factor() const {
    return options.perturbation_factors[rng.Below(options.perturbation_factors.size())];
  }

  ParamValue operator()(const FloatDomain& domain) const {
    const double from = AsDouble(value);
    const double to = Moved(from, Factor(), domain.lower, domain.upper, domain.log);
    if (!domain.step) return to;
    return OnGrid(whole, domain.lower, *domain.step, from, to);
  }
  ParamValue operator()(const IntDomain& domain) const {
    const auto lower = static_cast<double>(domain.lower);
    const double from = AsDouble(value);
    const double to =
        Moved(from, Factor(), lower, static_cast<double>(domain.upper), domain.log);
    return OnGrid(whole, lower, static_cast<double>(domain.step), from, to);
  }
  // As if four sd were its range.
  ParamValue operator()(const NormalDomain& domain) const {
    const double to = AsDouble(value) + (Factor() - 1) * 4 * domain.sd;
    return FromUnit(whole, NormalCdf((to - domain.mean) / domain.sd));
  }
  ParamValue operator()(const CategoricalDomain& domain) const {
    return Neighbour(domain.values, value, rng);
  }
  ParamValue operator()(const GridDomain& domain) const {
    return Neighbour(domain.values, value, rng);
  }
};

}  // namespace

ParamValue MutateValue(const Domain& domain,
                       const PbtOptions& options,
                       const ParamValue& value,
                       Rng& rng) {
  if (rng.Uniform() < options.resample_probability) return Draw(domain, rng);
  return std::visit(Perturb{options, domain, value, rng}, domain);
}

Params Mutate(const SearchSpace& space,
              const PbtOptions& options,
              const Params& parent,
              uint64_t seed,
              TrialId child) {
  Params params = parent;
  for (const Parameter& parameter : space.parameters()) {
    const auto at = params.find(parameter.name);
    if (at == params.end() || !ToUnit(parameter.domain, at->second)) continue;
    const bool named =
        std::ranges::find(options.mutations, parameter.name) != options.mutations.end();
    if (!options.mutations.empty() && !named) continue;
    Rng rng(seed, child, "mutation " + parameter.name);
    at->second = MutateValue(
        parameter.domain, options, Typed(parameter.domain, at->second), rng);
  }
  return params;
}

}  // namespace hyperopt

#include "search/change_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "trial/errors.h"
#include "trial/rng.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

std::optional<ParamValue> AsFraction(const ParamValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*number);
  }
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr || !std::isfinite(*number)) return std::nullopt;
  return *number;
}

std::optional<ParamValue> AsWhole(const ParamValue& value) {
  if (std::holds_alternative<int64_t>(value)) return value;
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr || std::abs(*number) > kExactIntegers) return std::nullopt;
  if (*number != std::floor(*number)) return std::nullopt;
  return static_cast<int64_t>(*number);
}

// The value in the type of one of the list: a new category must be of a type that is
// there already.
std::optional<ParamValue> AsOneOf(const std::vector<ParamValue>& values,
                                  const ParamValue& value) {
  if (std::ranges::find(values, value) != values.end()) return value;
  const auto has = [&](const ParamValue& like) {
    return std::ranges::any_of(
        values, [&](const ParamValue& of) { return of.index() == like.index(); });
  };
  if (has(value)) return value;
  const std::optional<ParamValue> fraction = AsFraction(value), whole = AsWhole(value);
  if (fraction && has(*fraction)) return fraction;
  if (whole && has(*whole)) return whole;
  return std::nullopt;
}

std::optional<ParamValue> OfTypeOf(const Domain& domain, const ParamValue& value) {
  if (std::holds_alternative<IntDomain>(domain)) return AsWhole(value);
  if (const auto* list = std::get_if<CategoricalDomain>(&domain)) {
    return AsOneOf(list->values, value);
  }
  if (const auto* list = std::get_if<GridDomain>(&domain)) {
    return AsOneOf(list->values, value);
  }
  return AsFraction(value);
}

[[noreturn]] void RefuseName(const SearchSpace& space, const std::string& name) {
  std::vector<std::string> names;
  for (const Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  const auto near = NearestName(name, names);
  throw ConfigError(fmt::format("the search has no parameter {}{}; it has {}",
                                name,
                                near ? fmt::format(" (did you mean {}?)", *near) : "",
                                fmt::join(names, ", ")));
}

}  // namespace

Params CheckGiven(const SearchSpace& space,
                  const Params& given,
                  std::vector<std::string>* notes) {
  Params checked;
  for (const auto& [name, value] : given) {
    const Parameter* parameter = space.Find(name);
    if (parameter == nullptr) RefuseName(space, name);
    const std::optional<ParamValue> typed = OfTypeOf(parameter->domain, value);
    if (!typed) {
      throw ConfigError(fmt::format("{}: {} is of another type than {}",
                                    name,
                                    ToJsonText(value),
                                    Describe(parameter->domain)));
    }
    if (!ToUnit(parameter->domain, *typed)) {
      notes->push_back(
          fmt::format("{} = {} is not in its space ({}); it is tried all the same",
                      name,
                      ToJsonText(*typed),
                      Describe(parameter->domain)));
    }
    checked[name] = *typed;
  }
  const Params active = space.Active(checked);
  for (const auto& [name, value] : checked) {
    if (active.contains(name)) continue;
    notes->push_back(
        fmt::format("{} takes no part beside the others; it is left out", name));
  }
  if (const Constraint* violated = space.Violated(active)) {
    throw ConfigError(fmt::format(
        "{}: constraint {} does not hold", ToJsonText(given), violated->text()));
  }
  return active;
}

Params FillGiven(const SearchSpace& space, Params given, uint64_t seed, TrialId id) {
  constexpr int kTries = 10'000;
  for (int i = 0;; ++i) {
    Params params = given;
    for (const Parameter& parameter : space.parameters()) {
      if (params.contains(parameter.name)) continue;
      std::string stream = "given " + parameter.name;
      if (i > 0) stream += fmt::format("\n{}", i);
      Rng rng(seed, id, stream);
      params[parameter.name] = Draw(parameter.domain, rng);
    }
    params = space.Active(std::move(params));
    const Constraint* violated = space.Violated(params);
    const auto left_out = std::ranges::find_if(
        given, [&](const auto& each) { return !params.contains(each.first); });
    if (violated == nullptr && left_out == given.end()) return params;
    if (given.size() == space.size() || i == kTries) {
      if (violated == nullptr) {
        throw ConfigError(fmt::format("{}: {} takes no part beside the others",
                                      ToJsonText(given),
                                      left_out->first));
      }
      throw ConfigError(fmt::format(
          "{}: constraint {} does not hold", ToJsonText(params), violated->text()));
    }
  }
}

bool NamesAll(const SearchSpace& space, const Params& params) {
  return std::ranges::all_of(space.parameters(), [&](const Parameter& each) {
    return params.contains(each.name) || !space.TakesPart(each, params);
  });
}

bool LiesWithin(const SearchSpace& space, const Params& params) {
  return NamesAll(space, params) && !space.ProblemWith(params) &&
         space.Violated(params) == nullptr;
}

}  // namespace hyperopt

#include "search/report/landscape.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace hyperopt {
namespace {

constexpr double kLast = 1 - 0x1p-53;

// The trials with a value, and their settings.
struct Trials {
  std::span<const Params> params;
  std::vector<size_t> by_rank;  // the best first

  // The best that has all of them.
  std::optional<size_t> BestWith(std::span<const std::string> names) const {
    for (const size_t trial : by_rank) {
      const auto has = [&](const std::string& n) { return params[trial].contains(n); };
      if (std::ranges::all_of(names, has)) return trial;
    }
    return std::nullopt;
  }
};

Trials TrialsOf(Goal goal,
                std::span<const Params> params,
                std::span<const Objective> values) {
  Trials trials{params, {}};
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].finite()) trials.by_rank.push_back(i);
  }
  std::ranges::stable_sort(trials.by_rank, [&](size_t a, size_t b) {
    return Better(goal, values[a], values[b]);
  });
  return trials;
}

// Even in the unit cube from `low` to `high`, each value once.
std::vector<ParamValue> Spread(const Domain& domain,
                               double low,
                               double high,
                               size_t places) {
  std::vector<ParamValue> values;
  for (size_t k = 0; k < places; ++k) {
    const double t = static_cast<double>(k) / static_cast<double>(places - 1);
    ParamValue value = FromUnit(domain, std::min(low + t * (high - low), kLast));
    if (values.empty() || values.back() != value) values.push_back(std::move(value));
  }
  return values;
}

// A normal domain has no ends: as far as the trials went, even in the value.
std::vector<ParamValue> SpreadNormal(const NormalDomain& domain,
                                     const std::string& name,
                                     const Trials& trials,
                                     size_t places) {
  std::optional<double> low, high;
  for (const size_t trial : trials.by_rank) {
    const auto found = trials.params[trial].find(name);
    if (found == trials.params[trial].end()) continue;
    const auto* number = std::get_if<double>(&found->second);
    if (number == nullptr || !ToUnit(domain, *number)) continue;
    low = std::min(low.value_or(*number), *number);
    high = std::max(high.value_or(*number), *number);
  }
  std::vector<ParamValue> values;
  if (!low) return values;
  NormalDomain plain = domain;
  plain.q.reset();
  for (size_t k = 0; k < places; ++k) {
    const double t = static_cast<double>(k) / static_cast<double>(places - 1);
    const auto unit = ToUnit(plain, *low + t * (*high - *low));
    if (!unit) continue;
    ParamValue value = FromUnit(domain, *unit);
    if (values.empty() || values.back() != value) values.push_back(std::move(value));
  }
  return values;
}

std::vector<ParamValue> PlacesOf(const Parameter& parameter,
                                 const Trials& trials,
                                 size_t places) {
  const Domain& domain = parameter.domain;
  if (const auto* normal = std::get_if<NormalDomain>(&domain)) {
    return SpreadNormal(*normal, parameter.name, trials, places);
  }
  const bool list = std::holds_alternative<CategoricalDomain>(domain) ||
                    std::holds_alternative<GridDomain>(domain);
  const std::optional<int64_t> count = Cardinality(domain);
  if (!list && !(count && *count <= static_cast<int64_t>(places))) {
    return Spread(domain, 0, 1, places);
  }
  std::vector<ParamValue> values;
  const int64_t most =
      list ? std::min<int64_t>(*count, kMostCategories) : count.value_or(0);
  for (int64_t k = 0; k < most; ++k) values.push_back(ValueAt(domain, k));
  return values;
}

// Parameters that the model knows and some trial has, the most important first.
std::vector<size_t> OrderOf(const SearchSpace& space,
                            const Surrogate& model,
                            std::span<const double> shares) {
  std::vector<size_t> order;
  for (size_t p = 0; p < space.size(); ++p) {
    if (model.Knows(p)) order.push_back(p);
  }
  if (!shares.empty()) {
    std::ranges::stable_sort(order,
                             [&](size_t a, size_t b) { return shares[a] > shares[b]; });
  }
  return order;
}

class Builder {
 public:
  Builder(const SearchSpace& space, const Surrogate& model, const Trials& trials)
      : space_(space), model_(model), trials_(trials) {}

  std::optional<LandscapeSlice> Slice(size_t parameter) const {
    const std::string names[] = {space_.parameters()[parameter].name};
    const auto base = trials_.BestWith(names);
    if (!base) return std::nullopt;
    LandscapeSlice slice{parameter, *base, Places(parameter, kSlicePlaces), {}};
    if (slice.at.size() < 2) return std::nullopt;
    const Variation varied[] = {{parameter, slice.at}};
    slice.values = model_.Around(trials_.params[*base], varied);
    if (slice.values.empty()) return std::nullopt;
    return slice;
  }

  LandscapeAxis Axis(size_t parameter) const {
    return {parameter, Places(parameter, kMapPlaces)};
  }

  std::optional<LandscapeMap> Map(const std::vector<LandscapeAxis>& axes,
                                  size_t x,
                                  size_t y) const {
    const std::string names[] = {space_.parameters()[axes[x].parameter].name,
                                 space_.parameters()[axes[y].parameter].name};
    const auto base = trials_.BestWith(names);
    if (!base) return std::nullopt;
    const Variation varied[] = {{axes[x].parameter, axes[x].at},
                                {axes[y].parameter, axes[y].at}};
    LandscapeMap map{x, y, *base, model_.Middles(trials_.params[*base], varied)};
    if (map.middles.empty()) return std::nullopt;
    return map;
  }

 private:
  std::vector<ParamValue> Places(size_t parameter, size_t places) const {
    return PlacesOf(space_.parameters()[parameter], trials_, places);
  }

  const SearchSpace& space_;
  const Surrogate& model_;
  const Trials& trials_;
};

}  // namespace

Landscape LandscapeOf(const SearchSpace& space,
                      Goal goal,
                      std::span<const Params> params,
                      std::span<const Objective> values,
                      std::span<const double> shares) {
  Landscape landscape;
  const Surrogate model(space, goal, params, values);
  landscape.used = model.used();
  landscape.usable = model.usable();
  landscape.why = model.why();
  if (!landscape.why.empty()) return landscape;
  const Trials trials = TrialsOf(goal, params, values);
  const Builder builder(space, model, trials);
  for (const size_t parameter : OrderOf(space, model, shares)) {
    if (landscape.slices.size() < kMostSlices) {
      if (auto slice = builder.Slice(parameter)) {
        landscape.slices.push_back(*std::move(slice));
      }
    }
    if (landscape.axes.size() < kMostMapAxes) {
      LandscapeAxis axis = builder.Axis(parameter);
      if (axis.at.size() > 1) landscape.axes.push_back(std::move(axis));
    }
  }
  for (size_t later = 1; later < landscape.axes.size(); ++later) {
    for (size_t first = 0; first < later; ++first) {
      if (auto map = builder.Map(landscape.axes, first, later)) {
        landscape.maps.push_back(*std::move(map));
      }
    }
  }
  return landscape;
}

}  // namespace hyperopt

// One entry of hyperopt.parameters: Ludwig's spaces and the two plain ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/internal/config/readers.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

enum class SpaceKind { kFloat, kInt, kNormal, kChoice, kGrid };

struct Space {
  std::string name;
  SpaceKind kind;
  bool log = false;
  bool quantised = false;       // has `q`
  bool excludes_upper = false;  // as Ludwig's users expect
  bool plain = false;           // `log` and `step` are keys of its own
};

const std::vector<Space>& Spaces() {
  using enum SpaceKind;
  static const std::vector<Space> spaces = {
      {"uniform", kFloat},
      {"quniform", kFloat, false, true},
      {"loguniform", kFloat, true},
      {"qloguniform", kFloat, true, true},
      {"float", kFloat, false, false, false, true},
      {"randn", kNormal},
      {"qrandn", kNormal, false, true},
      {"randint", kInt, false, false, true},
      {"qrandint", kInt, false, true},
      {"lograndint", kInt, true, false, true},
      {"qlograndint", kInt, true, true},
      {"int", kInt, false, false, false, true},
      {"choice", kChoice},
      {"categorical", kChoice},
      {"grid_search", kGrid},
  };
  return spaces;
}

constexpr double kMostDouble = std::numeric_limits<double>::max();
constexpr int64_t kMostInt = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeastInt = std::numeric_limits<int64_t>::min();

// The key of the step, and whether it is there.
std::string_view StepKey(const Space& space) { return space.plain ? "step" : "q"; }

// One bound or step, as the kind of space counts it.
template <typename T>
std::optional<T> ReadAmount(Section& entry, std::string_view key);
template <>
std::optional<double> ReadAmount<double>(Section& entry, std::string_view key) {
  return entry.Number(key, -kMostDouble, kMostDouble);
}
template <>
std::optional<int64_t> ReadAmount<int64_t>(Section& entry, std::string_view key) {
  return entry.Int(key, kLeastInt, kMostInt);
}

template <typename T>
std::optional<T> RequireAmount(Section& entry, std::string_view key) {
  if (!entry.Has(key)) {
    entry.Fail(key, "is missing");
    return std::nullopt;
  }
  return ReadAmount<T>(entry, key);
}

// lower, upper, step and log of a numeric space.
template <typename DomainT, typename T>
std::optional<Domain> ReadNumeric(Section& entry, const Space& space, T default_step) {
  DomainT domain;
  domain.log = space.log;
  const auto lower = RequireAmount<T>(entry, "lower");
  const auto upper = RequireAmount<T>(entry, "upper");
  bool sound = lower && upper;
  if (space.plain || space.quantised) {
    const std::string_view key = StepKey(space);
    const bool required = space.quantised && std::is_same_v<T, double>;
    if (entry.Has(key) || required) {
      const auto step = RequireAmount<T>(entry, key);
      sound = sound && step;
      if (step) domain.step = *step;
    } else if (default_step != T{}) {
      domain.step = default_step;
    }
  }
  if (space.plain) domain.log = entry.Bool("log").value_or(false);
  if (!sound) return std::nullopt;
  domain.lower = *lower;
  domain.upper = *upper;
  if (*lower >= *upper) {
    entry.Fail(
        "upper",
        fmt::format("lower must be below upper; they are {} and {}", *lower, *upper));
    return std::nullopt;
  }
  if (space.excludes_upper) domain.upper = *upper - T{1};
  return domain;
}

std::optional<Domain> ReadNormal(Section& entry, const Space& space) {
  NormalDomain domain;
  const auto mean = entry.Number("mean", -kMostDouble, kMostDouble);
  const auto sd = entry.Number("sd", -kMostDouble, kMostDouble);
  bool sound = (!entry.Has("mean") || mean) && (!entry.Has("sd") || sd);
  domain.mean = mean.value_or(domain.mean);
  domain.sd = sd.value_or(domain.sd);
  if (space.quantised) {
    domain.q = RequireAmount<double>(entry, "q");
    sound = sound && domain.q;
  }
  if (!sound) return std::nullopt;
  return domain;
}

// The values of a choice or grid, each any YAML value.
std::optional<std::vector<ParamValue>> ReadValues(Section& entry,
                                                  std::string_view key,
                                                  std::string_view wrong_key) {
  entry.Refuse(wrong_key, fmt::format("this space lists its values under `{}`", key));
  const bool wrongly_named = entry.value().Find(wrong_key) != nullptr;
  const Value* list = entry.Take(key);
  if (list == nullptr) {
    if (!wrongly_named && !entry.Has(key))
      entry.Fail(key, "is missing: a list of values");
    return std::nullopt;
  }
  if (!list->is_list()) {
    entry.Fail(key, fmt::format("must be a list of values, not {}", Describe(*list)));
    return std::nullopt;
  }
  std::vector<ParamValue> values;
  bool sound = true;
  for (size_t i = 0; i < list->items.size(); ++i) {
    const Value& item = list->items[i];
    auto value = ToParamValue(item);
    if (value) {
      values.push_back(*std::move(value));
      continue;
    }
    sound = false;
    if (HasNonFinite(item)) {
      entry.problems().Add(item.place,
                           fmt::format("{}.{}", entry.PathOf(key), i),
                           "NaN and infinities can not be values");
    }
  }
  return sound ? std::optional(std::move(values)) : std::nullopt;
}

std::optional<Domain> ReadOfKind(Section& entry, const Space& space, Reading& reading) {
  switch (space.kind) {
    case SpaceKind::kFloat:
    case SpaceKind::kInt:
      if (space.log && entry.Has("base")) {
        reading.problems.Note(fmt::format(
            "{} has no effect, as in Ludwig: the base of a logarithmic space cancels "
            "out",
            entry.PathOf("base")));
      }
      if (space.kind == SpaceKind::kFloat) {
        return ReadNumeric<FloatDomain, double>(entry, space, 0.0);
      }
      return ReadNumeric<IntDomain, int64_t>(entry, space, 1);
    case SpaceKind::kNormal:
      return ReadNormal(entry, space);
    case SpaceKind::kChoice:
      if (auto values = ReadValues(entry, "categories", "values")) {
        return CategoricalDomain{*std::move(values)};
      }
      return std::nullopt;
    case SpaceKind::kGrid:
      if (auto values = ReadValues(entry, "values", "categories")) {
        return GridDomain{*std::move(values)};
      }
      return std::nullopt;
  }
  return std::nullopt;
}

// The upper bound must be one of the values: "both ends included" would not hold
// otherwise, and which of its neighbours was meant only the user knows.
std::optional<std::string> ProblemWithStep(const Domain& domain, std::string_view key) {
  if (const auto* d = std::get_if<FloatDomain>(&domain)) {
    if (!d->step) return std::nullopt;
    const double last = std::get<double>(FromUnit(domain, 1));
    if (std::abs(last - d->upper) <= *d->step * 1e-6) return std::nullopt;
    return fmt::format(
        "{} does not fit: from {:.12g} in steps of {:.12g} upper ({:.12g}) is never "
        "reached; the nearest that fit are {:.12g} and {:.12g}",
        key,
        d->lower,
        *d->step,
        d->upper,
        last,
        last + *d->step);
  }
  const auto* d = std::get_if<IntDomain>(&domain);
  if (d == nullptr) return std::nullopt;
  const int64_t last = std::get<int64_t>(FromUnit(domain, 1));
  if (last == d->upper) return std::nullopt;
  int64_t next = 0;
  const bool has_next = !__builtin_add_overflow(last, d->step, &next);
  return fmt::format(
      "{} does not fit: from {} in steps of {} upper ({}) is never reached; the "
      "nearest "
      "that fit are {}{}",
      key,
      d->lower,
      d->step,
      d->upper,
      last,
      has_next ? fmt::format(" and {}", next) : "");
}

// nullptr where there is no such space, which is told.
const Space* FindSpace(Section& entry) {
  if (!entry.Has("space")) {
    entry.Fail("space",
               "is missing: uniform, loguniform, int, choice, grid_search, ...");
    return nullptr;
  }
  const auto name = entry.Text("space");
  if (!name) return nullptr;
  const auto found = std::ranges::find(Spaces(), *name, &Space::name);
  if (found != Spaces().end()) return &*found;
  if (*name == "sample_from") {
    entry.Fail("space",
               "sample_from needs a function, which no file can hold; use choice with "
               "the values it may return");
    return nullptr;
  }
  std::vector<std::string> known;
  for (const Space& space : Spaces()) known.push_back(space.name);
  const auto near = NearestName(*name, known);
  entry.Fail(
      "space",
      near ? fmt::format("no space {}; did you mean {}?", *name, *near)
           : fmt::format("no space {}; there are {}", *name, fmt::join(known, ", ")));
  return nullptr;
}

}  // namespace

std::optional<Domain> ReadDomain(const Value& value,
                                 const std::string& path,
                                 Reading& reading) {
  if (value.is_broken()) return std::nullopt;
  if (!value.is_map()) {
    const char* const way_out =
        value.is_list()
            ? "{space: choice, categories: [...]}"
            : "{space: uniform, lower: 0, upper: 1}; a fixed value belongs into the "
              "model's own keys or the command";
    reading.problems.Add(
        value.place,
        path,
        fmt::format("must be a space, not {}: {}", Describe(value), way_out));
    return std::nullopt;
  }
  if (const auto modern = ModernSpelling(value)) {
    reading.problems.Add(
        value.place,
        path,
        fmt::format("a spelling of Ludwig 0.4 and before; write {}", *modern));
    return std::nullopt;
  }
  Section entry(&value, path, reading.problems);
  const Space* space = FindSpace(entry);
  if (space == nullptr) return std::nullopt;
  entry.Ignore("arg");
  entry.Ignore("base");
  entry.Ignore("when");
  auto domain = ReadOfKind(entry, *space, reading);
  entry.Finish();
  if (!domain) return std::nullopt;
  auto problem = ProblemWith(*domain);
  if (!problem) problem = ProblemWithStep(*domain, StepKey(*space));
  if (!problem) return domain;
  reading.problems.Add(value.place, path, *problem);
  return std::nullopt;
}

}  // namespace hyperopt::internal

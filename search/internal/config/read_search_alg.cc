// hyperopt.search_alg: how the next trial is chosen, and its seed.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "search/internal/config/known_keys.h"
#include "search/internal/config/readers.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

// Beyond, a sampler refuses to count.
constexpr int64_t kMostTrials = int64_t{1} << 31;

struct Type {
  std::string_view name;
  SamplerKind kind;
  std::string_view stands_for;  // of a name of Ludwig's; "" for our own
};
constexpr Type kTypes[] = {
    {"random", SamplerKind::kRandom, ""},
    {"variant_generator", SamplerKind::kRandom, ""},
    {"grid", SamplerKind::kGrid, ""},
    {"list", SamplerKind::kList, ""},
    {"auto", SamplerKind::kAuto, ""},
    {"gp", SamplerKind::kGp, ""},
    {"bayesian", SamplerKind::kGp, ""},
    {"tpe", SamplerKind::kTpe, ""},
    {"cmaes", SamplerKind::kCmaes, ""},
    {"sobol", SamplerKind::kSobol, ""},
    {"hyperopt", SamplerKind::kTpe, "tpe"},
    {"optuna", SamplerKind::kTpe, "tpe"},
    {"bohb", SamplerKind::kTpe, "tpe"},
    {"bayesopt", SamplerKind::kGp, "gp"},
    {"skopt", SamplerKind::kGp, "gp"},
    {"ax", SamplerKind::kGp, "gp"},
    {"hebo", SamplerKind::kGp, "gp"},
};
constexpr std::string_view kLaterTypes[] = {
    "halton", "blendsearch", "cfo", "dragonfly", "nevergrad", "zoopt"};
// Options of Ludwig's types that have no use here.
constexpr std::string_view kForeignOptions[] = {"analysis",
                                                "bohb_config",
                                                "convert_to_python",
                                                "gamma",
                                                "metric",
                                                "mode",
                                                "n_initial_points",
                                                "n_startup_jobs",
                                                "optimizer",
                                                "outcome_constraints",
                                                "parameter_constraints",
                                                "patience",
                                                "random_search_steps",
                                                "sampler",
                                                "skip_duplicate",
                                                "space",
                                                "utility_kwargs",
                                                "verbose"};

// A grid is to be run through, not modelled.
bool HasGrid(const SearchConfig& config) {
  return std::ranges::any_of(config.space.parameters(), [](const Parameter& each) {
    return std::holds_alternative<GridDomain>(each.domain);
  });
}

// nullopt where the type is none of this version's, which is told; then the other keys
// mean nothing and are not looked at.
std::optional<SamplerKind> ReadType(Section& alg, Reading& reading) {
  if (!alg.Has("type")) {
    return reading.has_command ? SamplerKind::kAuto : SamplerKind::kRandom;
  }
  const auto type = alg.Text("type");
  if (!type) return std::nullopt;
  const auto found = std::ranges::find(kTypes, *type, &Type::name);
  if (found != std::end(kTypes)) {
    if (found->stands_for.empty()) return found->kind;
    reading.problems.Note(fmt::format(
        "hyperopt.search_alg.type {} is read as {}", *type, found->stands_for));
    for (std::string_view key : kForeignOptions) {
      if (!alg.Has(key)) continue;
      alg.Ignore(key);
      reading.problems.Note(fmt::format("{} has no use here", alg.PathOf(key)));
    }
    return found->kind;
  }
  if (std::ranges::find(kLaterTypes, *type) != std::end(kLaterTypes)) {
    alg.Fail("type",
             fmt::format(
                 "{} is {}; use auto, gp, tpe, random or grid", *type, kLaterVersion));
    return std::nullopt;
  }
  std::vector<std::string> known(std::begin(kLaterTypes), std::end(kLaterTypes));
  for (const Type& each : kTypes) known.emplace_back(each.name);
  const auto near = NearestName(*type, known);
  alg.Fail("type",
           near
               ? fmt::format("no such type: {}; did you mean {}?", *type, *near)
               : fmt::format("no such type: {}; there are auto, gp, tpe, cmaes, sobol, "
                             "random, grid and list",
                             *type));
  return std::nullopt;
}

// BOHB is tpe and hyperband together; each half asks for the other.
SamplerKind PairBohb(Section& alg, SamplerKind kind, Reading& reading) {
  const Value* type = alg.Take("type");
  if (type != nullptr && type->text == "bohb" && !reading.has_scheduler) {
    UseHyperband(reading);
  }
  if (!reading.wants_tpe || kind == SamplerKind::kTpe) return kind;
  if (type == nullptr) {
    reading.problems.Note(
        "hyperopt.search_alg is tpe, which executor.scheduler.type hb_bohb goes with");
    return SamplerKind::kTpe;
  }
  reading.problems.Note(fmt::format(
      "executor.scheduler.type hb_bohb goes with hyperopt.search_alg.type bohb (tpe); "
      "it is {}",
      type->text));
  return kind;
}

// One seed under any of the names that Ludwig's algorithms have for it.
void ReadSeed(Section& alg, Reading& reading) {
  std::optional<int64_t> seed;
  std::string_view from;
  for (const char* key : {"random_state", "seed", "random_state_seed"}) {
    const auto given = alg.Int(key, 0, INT64_MAX);
    if (!given) continue;
    if (seed && *seed != *given) {
      alg.Fail(key, fmt::format("is another seed than {}; keep one of them", from));
    }
    if (!seed) from = key;
    seed = seed.value_or(*given);
  }
  if (!seed) {
    const Value* model_seed = reading.model.Find("random_seed");
    if (model_seed != nullptr) seed = AsInt(*model_seed);
    if (seed && *seed < 0) seed = std::nullopt;
  }
  if (seed) reading.config.sampler.seed = static_cast<uint64_t>(*seed);
}

// Ludwig's random search has a limit of its own; there is one gate here.
void ReadMaxConcurrent(Section& alg, Reading& reading) {
  const auto limit = alg.Int("max_concurrent", 0, INT64_MAX);
  if (!limit || *limit == 0) return;
  auto& gate = reading.config.executor.max_concurrent_trials;
  if (gate && *gate != *limit) {
    alg.Fail(
        "max_concurrent",
        fmt::format("is {}, and hyperopt.executor.max_concurrent_trials is {}; keep "
                    "the latter",
                    *limit,
                    *gate));
    return;
  }
  gate = *limit;
  reading.problems.Note(
      "hyperopt.search_alg.max_concurrent is read as "
      "hyperopt.executor.max_concurrent_trials");
}

// False where something is wrong with it.
bool ReadPoint(const Value& point, const std::string& path, Reading& reading) {
  const SearchSpace& space = reading.config.space;
  bool sound = true;
  Params& params = reading.config.sampler.points_to_evaluate.emplace_back();
  if (!point.is_map()) {
    reading.problems.Add(
        point.place,
        path,
        fmt::format("must be a map of parameter names to values, not {}",
                    Describe(point)));
    return false;
  }
  std::vector<std::string> known;
  for (const Parameter& parameter : space.parameters()) known.push_back(parameter.name);
  for (const Entry& entry : point.entries) {
    const std::string entry_path = fmt::format("{}.{}", path, entry.key);
    const Parameter* parameter = space.Find(entry.key);
    if (parameter == nullptr) {
      const auto near = NearestName(entry.key, known);
      reading.problems.Add(
          entry.place,
          entry_path,
          near ? fmt::format("no such parameter; did you mean {}?", *near)
               : "no such parameter");
      sound = false;
      continue;
    }
    const auto value = ToParamValue(entry.value);
    if (!value || !ToUnit(parameter->domain, *value)) {
      reading.problems.Add(entry.value.place,
                           entry_path,
                           fmt::format("{} is not in its space ({})",
                                       Describe(entry.value),
                                       Describe(parameter->domain)));
      sound = false;
      continue;
    }
    params[entry.key] = Typed(parameter->domain, *value);
  }
  return sound;
}

void ReadPoints(Section& alg, Reading& reading) {
  const Value* points = alg.Take("points_to_evaluate");
  if (points == nullptr) return;
  if (!points->is_list()) {
    alg.Fail("points_to_evaluate",
             fmt::format("must be a list of maps, not {}", Describe(*points)));
    return;
  }
  // Without a sound space every point would be wrong once more.
  if (reading.config.space.size() == 0) return;
  for (size_t i = 0; i < points->items.size(); ++i) {
    const std::string path = fmt::format("{}.{}", alg.PathOf("points_to_evaluate"), i);
    if (!ReadPoint(points->items[i], path, reading)) reading.bad_points.insert(i);
  }
}

void CheckGrid(Section& alg, Reading& reading) {
  for (const Parameter& parameter : reading.config.space.parameters()) {
    if (Cardinality(parameter.domain)) continue;
    alg.Fail("type",
             fmt::format("grid needs a finite space, and {} has none ({}): give it a "
                         "step, or values to run through (grid_search)",
                         parameter.name,
                         Describe(parameter.domain)));
  }
}

// Models take a grid_search parameter as one with categories.
bool RunsThrough(const SearchConfig& config, const Parameter& parameter) {
  const SamplerKind kind = config.sampler.kind;
  if (kind == SamplerKind::kGrid) return true;
  return kind == SamplerKind::kRandom &&
         std::holds_alternative<GridDomain>(parameter.domain);
}

// Cells of the grid; nullopt beyond what can be counted.
std::optional<int64_t> GridCells(const SearchConfig& config) {
  int64_t cells = 1;
  for (const Parameter& parameter : config.space.parameters()) {
    if (!RunsThrough(config, parameter)) continue;
    const auto size = Cardinality(parameter.domain);
    if (!size || __builtin_mul_overflow(cells, *size, &cells)) return std::nullopt;
  }
  return cells;
}

// num_samples: Ludwig's default, no cell of a pure grid twice, and no preset dropped.
void SettleSamples(Section& alg, Reading& reading) {
  SearchConfig& config = reading.config;
  const auto is_grid = [&config](const Parameter& parameter) {
    return RunsThrough(config, parameter);
  };
  const auto parameters = config.space.parameters();
  const bool any_grid = std::ranges::any_of(parameters, is_grid);
  const bool all_grid = any_grid && std::ranges::all_of(parameters, is_grid);
  const auto points = static_cast<int64_t>(config.sampler.points_to_evaluate.size());
  const Value* executor = reading.root.Find("hyperopt")->Find("executor");
  const Value* given = executor == nullptr ? nullptr : executor->Find("num_samples");
  int64_t& samples = config.executor.num_samples;
  if (given == nullptr || given->is_null()) samples = any_grid ? points + 1 : 10;
  if (all_grid && samples > points + 1) {
    reading.problems.Note(fmt::format(
        "hyperopt.executor.num_samples is {}, and every parameter is a grid: each "
        "configuration runs once, not {} times",
        samples,
        samples - points));
    samples = points + 1;
  }
  if (points > samples) {
    alg.Fail("points_to_evaluate",
             fmt::format("has {} points, more than the {} of num_samples, which each "
                         "takes one of",
                         points,
                         samples));
  }
  const auto cells = GridCells(config);
  int64_t count = 0;
  if (!cells || __builtin_mul_overflow(*cells, samples, &count) ||
      count > kMostTrials) {
    alg.Fail("type",
             fmt::format("there would be more than {} trials: fewer grid values or "
                         "num_samples",
                         kMostTrials));
  }
  config.sampler.num_samples = samples;
}

// Whether anything is left of the space, which only a sampler knows.
void CheckConditions(Section& hyperopt, Reading& reading) {
  const SearchSpace& space = reading.config.space;
  if (reading.problems.any()) return;
  const bool is_cmaes = reading.config.sampler.kind == SamplerKind::kCmaes;
  if (!is_cmaes && !space.is_conditional() && space.constraints().empty()) return;
  const char* place = is_cmaes                      ? "search_alg"
                      : space.constraints().empty() ? "parameters"
                                                    : "constraints";
  for (const std::string& problem : ProblemsWith(space, reading.config.sampler)) {
    hyperopt.Fail(place, problem);
  }
}

}  // namespace

void ReadSearchAlg(Section& hyperopt, Reading& reading) {
  Section alg(hyperopt.Take("search_alg"), "hyperopt.search_alg", reading.problems);
  auto kind = ReadType(alg, reading);
  if (!kind) return;
  reading.config.sampler.goal = reading.config.goal;
  ReadSeed(alg, reading);
  ReadMaxConcurrent(alg, reading);
  if (kind == SamplerKind::kAuto && HasGrid(reading.config)) {
    kind = SamplerKind::kRandom;
  }
  kind = PairBohb(alg, *kind, reading);
  reading.config.sampler.kind = *kind;
  if (*kind == SamplerKind::kList) {
    ReadList(alg, reading);
    alg.Refuse("points_to_evaluate",
               "has no use with a list: write them as its first rows");
    alg.Finish();
    return;
  }
  ReadPoints(alg, reading);
  reading.config.sampler.constant_grid_search =
      alg.Bool("constant_grid_search").value_or(false);
  ReadKnown(alg, reading);
  if (*kind == SamplerKind::kGrid) CheckGrid(alg, reading);
  if (reading.config.space.size() > 0) SettleSamples(alg, reading);
  alg.Finish();
  CheckConditions(hyperopt, reading);
}

}  // namespace hyperopt::internal

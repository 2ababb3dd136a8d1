// hyperopt.executor.scheduler {type: pbt}: Ray's keys.
#include <fmt/format.h>

#include <algorithm>

#include "search/internal/config/readers.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

constexpr int64_t kMostTime = int64_t{1} << 53;
constexpr int64_t kMostIntervals = 1'000'000;

void ReadFactors(Section& scheduler, PbtOptions& options) {
  const Value* value = scheduler.Take("perturbation_factors");
  if (value == nullptr) return;
  std::vector<double> factors;
  for (const Value& item : value->items) {
    const auto factor = AsNumber(item);
    if (factor && *factor > 0) factors.push_back(*factor);
  }
  if (!value->is_list() || factors.size() != 2 || value->items.size() != 2) {
    scheduler.Fail("perturbation_factors",
                   "must be two numbers above 0, as [1.2, 0.8]");
    return;
  }
  options.perturbation_factors = std::move(factors);
}

void AddMutation(Section& scheduler, const std::string& name, Reading& reading) {
  const SearchSpace& space = reading.config.space;
  if (space.Find(name) != nullptr) {
    reading.config.scheduler.pbt.mutations.push_back(name);
    return;
  }
  std::vector<std::string> known;
  for (const Parameter& parameter : space.parameters()) known.push_back(parameter.name);
  const auto near = NearestName(name, known);
  scheduler.Fail(
      "hyperparam_mutations",
      fmt::format("{} is not among hyperopt.parameters{}; what may change is "
                  "a parameter of the search",
                  name,
                  near ? fmt::format("; did you mean {}?", *near) : ""));
}

// Ray's map of a name to what it may become, or a list of names.
void ReadMutations(Section& scheduler, Reading& reading) {
  const Value* value = scheduler.Take("hyperparam_mutations");
  if (value == nullptr) return;
  if (value->is_list()) {
    for (const Value& item : value->items) AddMutation(scheduler, item.text, reading);
    return;
  }
  if (!value->is_map()) {
    scheduler.Fail("hyperparam_mutations",
                   "must name parameters of the search, as a list or a map");
    return;
  }
  bool restated = false;
  for (const Entry& entry : value->entries) {
    restated = restated || !entry.value.is_null();
    AddMutation(scheduler, entry.key, reading);
  }
  if (!restated) return;
  reading.problems.Note(
      "hyperparam_mutations names what may change; what a parameter may become is what "
      "hyperopt.parameters says of it");
}

}  // namespace

void ReadPbt(Section& scheduler, Reading& reading) {
  SchedulerOptions& options = reading.config.scheduler;
  PbtOptions& pbt = options.pbt;
  options.max_t = scheduler.Int("max_t", 1, kMostTime).value_or(options.max_t);
  pbt.perturbation_interval = scheduler.Int("perturbation_interval", 1, kMostTime)
                                  .value_or(pbt.perturbation_interval);
  pbt.burn_in_period =
      scheduler.Int("burn_in_period", 0, kMostTime).value_or(pbt.burn_in_period);
  pbt.quantile_fraction =
      scheduler.Number("quantile_fraction", 0, 0.5).value_or(pbt.quantile_fraction);
  pbt.resample_probability =
      scheduler.Number("resample_probability", 0, 1).value_or(pbt.resample_probability);
  ReadFactors(scheduler, pbt);
  ReadMutations(scheduler, reading);
  if (scheduler.Bool("synch").value_or(false)) {
    scheduler.Fail("synch",
                   "nobody waits for the others here: a trial is compared when it goes "
                   "on, and those furthest behind go on first; leave synch out");
  }
  for (const char* key : {"log_config", "require_attrs"}) scheduler.Ignore(key);
  scheduler.Refuse("custom_explore_fn", "there is no Python here; leave it out");
  for (const char* key : {"grace_period", "reduction_factor", "brackets", "mode"}) {
    scheduler.Refuse(key, "has no effect with type pbt");
  }
  if (pbt.perturbation_interval >= options.max_t) {
    scheduler.Fail(
        "perturbation_interval",
        fmt::format("is {}, and max_t is {}: no trial would ever be compared",
                    pbt.perturbation_interval,
                    options.max_t));
  } else if (options.max_t / pbt.perturbation_interval > kMostIntervals) {
    scheduler.Fail("perturbation_interval",
                   fmt::format("max_t holds {} of it, and at most {} are kept",
                               options.max_t / pbt.perturbation_interval,
                               kMostIntervals));
  }
}

}  // namespace hyperopt::internal

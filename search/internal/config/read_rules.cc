#include "search/internal/config/read_rules.h"

#include <fmt/format.h>

#include <cassert>
#include <limits>

#include "search/internal/config/readers.h"

namespace hyperopt::internal {
namespace {

constexpr double kMostNumber = std::numeric_limits<double>::max();
// As Ray has them.
constexpr int64_t kMedianGrace = 60;
constexpr int64_t kPlateauGrace = 4;

void RefuseOfAsha(Section& scheduler, std::string_view type) {
  scheduler.Refuse("mode", "the direction is hyperopt.goal; leave mode out");
  if (type == "target") {
    scheduler.Refuse("grace_period", "has no effect with type target");
  }
  for (const char* key : {"max_t", "reduction_factor", "brackets"}) {
    scheduler.Refuse(
        key,
        fmt::format("has no effect with type {0}; join {0} with asha in type: any",
                    type));
  }
}

void ReadMedian(Section& scheduler, Problems& problems, SchedulerOptions* options) {
  options->grace_period = kMedianGrace;
  if (!scheduler.Has("grace_period") && options->time_attr != "time_total_s") {
    problems.Note(
        fmt::format("{} is absent: {} in the unit of {}, as Ray has "
                    "it",
                    scheduler.PathOf("grace_period"),
                    options->grace_period,
                    options->time_attr));
  }
  options->grace_period =
      scheduler.Int("grace_period", 0, kMostTime).value_or(options->grace_period);
  options->min_samples_required = scheduler.Int("min_samples_required", 1, kMostTime)
                                      .value_or(options->min_samples_required);
  if (scheduler.Number("min_time_slice", 0, kMostTime)) {
    problems.Note(fmt::format("{} has no use here: no trial gives up its place",
                              scheduler.PathOf("min_time_slice")));
  }
  if (scheduler.Bool("hard_stop") == false) {
    scheduler.Fail("hard_stop",
                   "false would pause trials that are never taken up again here; leave "
                   "it out");
  }
}

void ReadPatience(Section& scheduler, SchedulerOptions* options) {
  options->grace_period =
      scheduler.Int("grace_period", 0, kMostTime).value_or(options->grace_period);
  options->patience =
      scheduler.Int("patience", 1, kMostTime).value_or(options->patience);
  options->min_delta =
      scheduler.Number("min_delta", 0, kMostNumber).value_or(options->min_delta);
}

void ReadPlateau(Section& scheduler, SchedulerOptions* options) {
  options->grace_period =
      scheduler.Int("grace_period", 0, kMostTime).value_or(kPlateauGrace);
  options->num_results =
      scheduler.Int("num_results", 2, 10'000).value_or(options->num_results);
  options->std = scheduler.Number("std", 0, kMostNumber).value_or(options->std);
  if (options->std == 0) {
    scheduler.Fail("std", "must be above 0: a plateau is what varies less than it");
  }
  options->metric_threshold =
      scheduler.Number("metric_threshold", -kMostNumber, kMostNumber);
}

void ReadTarget(Section& scheduler, SchedulerOptions* options) {
  const auto value = scheduler.Number("value", -kMostNumber, kMostNumber);
  if (value) options->target = *value;
  if (!scheduler.Has("value")) {
    scheduler.Fail("value", "is missing: the value at which a trial is complete");
  }
}

}  // namespace

void ReadCurveRule(Section& scheduler,
                   std::string_view type,
                   Problems& problems,
                   SchedulerOptions* options) {
  RefuseOfAsha(scheduler, type);
  switch (options->kind) {
    case SchedulerKind::kMedian:
      ReadMedian(scheduler, problems, options);
      break;
    case SchedulerKind::kPatience:
      ReadPatience(scheduler, options);
      break;
    case SchedulerKind::kPlateau:
      ReadPlateau(scheduler, options);
      break;
    default:
      assert(options->kind == SchedulerKind::kTarget);
      ReadTarget(scheduler, options);
  }
}

}  // namespace hyperopt::internal

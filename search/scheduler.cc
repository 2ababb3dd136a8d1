#include "search/scheduler.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "search/internal/schedulers.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

// Large enough for any real bracket, small enough that a sum of 64 does not overflow.
constexpr uint64_t kWeightLimit = uint64_t{1} << 56;

uint64_t LimitedProduct(uint64_t a, uint64_t b) {
  return b != 0 && a > kWeightLimit / b ? kWeightLimit : a * b;
}

}  // namespace

std::vector<int64_t> RungLevels(const SchedulerOptions& options, int bracket) {
  assert(options.grace_period >= 1 && options.max_t >= options.grace_period);
  assert(options.reduction_factor >= 2 && bracket >= 0);
  std::vector<int64_t> levels;
  int64_t level = options.grace_period;
  for (int k = 0; level < options.max_t; ++k) {
    if (k >= bracket) levels.push_back(level);
    // level * factor < max_t, without a product that may overflow.
    if (level > (options.max_t - 1) / options.reduction_factor) break;
    level *= options.reduction_factor;
  }
  return levels;
}

std::vector<SchedulerOptions> RulesOf(const SchedulerOptions& options) {
  return options.kind == SchedulerKind::kAny ? options.of : std::vector{options};
}

BracketsRule RuleOfBracket(const SchedulerOptions& options, int32_t bracket) {
  const std::vector<SchedulerOptions> rules = RulesOf(options);
  for (size_t i = 0; i + 1 < rules.size(); ++i) {
    const auto brackets = rules[i].kind == SchedulerKind::kAsha
                              ? static_cast<int32_t>(BracketWeights(rules[i]).size())
                              : 1;
    if (bracket < brackets) return {rules[i], bracket};
    bracket -= brackets;
  }
  return {rules.back(), bracket};
}

std::optional<int64_t> MaxTime(const SchedulerOptions& options) {
  for (const SchedulerOptions& rule : RulesOf(options)) {
    if (rule.kind == SchedulerKind::kAsha || rule.kind == SchedulerKind::kPbt) {
      return rule.max_t;
    }
  }
  return std::nullopt;
}

CurvesNeeded CurvesFor(const SchedulerOptions& options) {
  CurvesNeeded needed = CurvesNeeded::kNone;
  for (const SchedulerOptions& rule : RulesOf(options)) {
    if (rule.kind == SchedulerKind::kMedian) return CurvesNeeded::kAll;
    const bool has_rungs = rule.kind == SchedulerKind::kAsha ||
                           rule.kind == SchedulerKind::kFifo ||
                           rule.kind == SchedulerKind::kPbt;
    if (!has_rungs) needed = CurvesNeeded::kOwn;
  }
  return needed;
}

std::vector<uint64_t> BracketWeights(const SchedulerOptions& options) {
  assert(options.brackets >= 1);
  const uint64_t most = RungLevels(options).size();
  const uint64_t count =
      std::min(static_cast<uint64_t>(options.brackets), uint64_t{most + 1});
  std::vector<uint64_t> weights;
  for (uint64_t bracket = 0; bracket < count; ++bracket) {
    const uint64_t rungs = most - bracket;
    uint64_t trials = most + 1;
    for (uint64_t k = 0; k < rungs; ++k) {
      trials = LimitedProduct(trials, static_cast<uint64_t>(options.reduction_factor));
    }
    weights.push_back((trials + rungs) / (rungs + 1));
  }
  return weights;
}

int BracketOf(const SchedulerOptions& options, uint64_t seed, TrialId trial) {
  if (options.brackets == 1) return 0;
  const std::vector<uint64_t> weights = BracketWeights(options);
  const uint64_t total = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
  uint64_t ticket = Rng(seed, trial, "bracket").Below(total);
  int bracket = 0;
  for (; ticket >= weights[bracket]; ++bracket) ticket -= weights[bracket];
  return bracket;
}

std::unique_ptr<Scheduler> MakeScheduler(const SchedulerOptions& options,
                                         Goal goal,
                                         uint64_t seed) {
  switch (options.kind) {
    case SchedulerKind::kFifo:
      return internal::MakeFifo();
    case SchedulerKind::kAsha:
      return options.promotion ? internal::MakeAshaPromotion(options, goal, seed)
                               : internal::MakeAshaStopping(options, goal, seed);
    case SchedulerKind::kMedian:
      return internal::MakeMedianStopping(options, goal);
    case SchedulerKind::kPatience:
      return internal::MakePatience(options, goal);
    case SchedulerKind::kPlateau:
      return internal::MakePlateau(options, goal);
    case SchedulerKind::kTarget:
      return internal::MakeTarget(options, goal);
    case SchedulerKind::kAny:
      return internal::MakeAny(options, goal, seed);
    case SchedulerKind::kPbt:
      return internal::MakePbt(options, goal, seed);
  }
  assert(false);
  return nullptr;
}

}  // namespace hyperopt

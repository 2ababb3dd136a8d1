#include "search/commands/trials_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "search/commands/text_width.h"
#include "search/curve_plot.h"
#include "search/format.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

constexpr size_t kWidest = 100;
constexpr size_t kHeight = 10;

// The best, trial after trial in the order of their numbers.
class BestSoFarWalk {
 public:
  explicit BestSoFarWalk(const SweepFacts& facts) : facts_(facts) {
    if (facts.config.repeats > 1) {
      race_.emplace(facts.config.repeats, facts.config.goal, TrialId(0));
    }
  }

  // nullopt while there is none.
  std::optional<double> After(const TrialRow& row) {
    if (race_) return LeaderAfter(row);
    const Objective& value = RankedValue(row, facts_.config.value);
    const bool counts = row.state != TrialState::kFailed && value.finite();
    if (counts && (best_.missing() || Better(facts_.sweep.goal, value, best_))) {
      best_ = value;
    }
    return best_.missing() ? std::nullopt : std::optional(best_.value);
  }

 private:
  std::optional<double> LeaderAfter(const TrialRow& row) {
    race_->OnCreated(row.id, row.parent);
    const auto end = RepeatEndOf(row, facts_.config.value == ValueRule::kBest);
    if (end) race_->OnEnded(row.id, *end);
    const Standing* leader = race_->Leader();
    return leader == nullptr ? std::nullopt : std::optional(leader->mean);
  }

  const SweepFacts& facts_;
  std::optional<Race> race_;
  Objective best_;
};

}  // namespace

std::vector<std::pair<int64_t, double>> BestSoFarOf(const SweepFacts& facts) {
  TrialsWanted wanted;
  wanted.order = TrialColumn::kId;
  BestSoFarWalk walk(facts);
  std::vector<std::pair<int64_t, double>> points;
  for (const TrialRow& row : facts.Trials(wanted)) {
    const std::optional<double> best = walk.After(row);
    if (!best) continue;
    const int64_t trials = row.id.value() + 1;
    const bool changes = !points.empty() && points.back().second != *best;
    if (changes) points.emplace_back(trials, points.back().second);
    points.emplace_back(trials, *best);
  }
  return points;
}

std::vector<std::string> BestSoFarPlot(const SweepFacts& facts, size_t width) {
  const auto points = BestSoFarOf(facts);
  if (points.empty()) return {"no trial has a finite value yet"};
  const char* what = facts.config.repeats > 1
                         ? "mean {} of the best configuration so far, by trial"
                         : "best {} so far, by trial";
  std::vector<std::string> lines = {
      fmt::format(fmt::runtime(what), Printable(facts.sweep.metric))};
  const PlotInk ink = SpeaksUtf8() ? PlotInk::kBraille : PlotInk::kAscii;
  std::ranges::move(PlotCurve(points, ink, {std::min(width, kWidest), kHeight}),
                    std::back_inserter(lines));
  return lines;
}

}  // namespace hyperopt

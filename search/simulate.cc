#include "search/simulate.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <tuple>

#include "search/scheduler.h"

namespace hyperopt {
namespace {

class Simulation {
 public:
  Simulation(std::span<const KnownCurve> curves, const SearchConfig& config)
      : curves_(curves),
        config_(config),
        scheduler_(MakeScheduler(config.scheduler, config.goal, config.sampler.seed)),
        knows_seconds_(std::ranges::any_of(curves, [](const KnownCurve& curve) {
          return !curve.points.empty() && curve.points.back().elapsed_s > 0;
        })) {}

  SimulatedSweep Run(int64_t concurrency) {
    const int64_t places = std::min(concurrency, std::ssize(curves_));
    for (int64_t place = 0; place < places; ++place) StartNext(0);
    while (!reports_.empty()) {
      const Report report = reports_.extract(reports_.begin()).value();
      Take(report);
    }
    return std::move(sweep_);
  }

 private:
  struct Report {
    double at;
    size_t index;  // within the curve
    size_t curve;
    double started;
    auto operator<=>(const Report&) const = default;
  };

  double SecondsAt(const KnownCurve::Point& point) const {
    return knows_seconds_ ? point.elapsed_s : static_cast<double>(point.time);
  }

  void StartNext(double now) {
    for (; next_ < curves_.size(); ++next_) {
      const KnownCurve& curve = curves_[next_];
      if (!curve.points.empty()) {
        reports_.insert({now + SecondsAt(curve.points[0]), 0, next_, now});
        ++next_;
        return;
      }
      if (curve.failed) scheduler_->OnFailed(curve.trial);
      if (curve.cut_short) sweep_.beyond.push_back(curve.trial);
    }
  }

  void Take(const Report& report) {
    const KnownCurve& curve = curves_[report.curve];
    const KnownCurve::Point& point = curve.points[report.index];
    ++sweep_.reports;
    if (config_.value == ValueRule::kBest) Rank(curve.trial, point.value);
    const Verdict verdict =
        scheduler_->OnMeasurement(curve.trial, point.time, point.value);
    const std::optional<int64_t> max_t = scheduler_->max_time();
    const bool ends =
        verdict.decision != Decision::kContinue || (max_t && point.time >= *max_t);
    const size_t following = report.index + 1;
    const bool over = following == curve.points.size();
    if (!ends && !over) {
      const double at = report.started + SecondsAt(curve.points[following]);
      reports_.insert(
          {std::max(at, report.at), following, report.curve, report.started});
      return;
    }
    if (ends && !over) ++sweep_.ended_early;
    if (!ends && curve.failed) scheduler_->OnFailed(curve.trial);
    if (!ends && curve.cut_short) sweep_.beyond.push_back(curve.trial);
    const bool failed = curve.failed && !ends;
    if (config_.value == ValueRule::kLast && !failed) Rank(curve.trial, point.value);
    int64_t reached = 0;
    for (size_t i = 0; i < following; ++i) {
      reached = std::max(reached, curve.points[i].time);
    }
    sweep_.time += reached;
    sweep_.trial_s += point.elapsed_s;
    sweep_.wall_s = std::max(sweep_.wall_s, report.at);
    StartNext(report.at);
  }

  void Rank(TrialId trial, const Objective& value) {
    if (!value.finite() ||
        (sweep_.best && !Better(config_.goal, value, sweep_.value))) {
      return;
    }
    sweep_.best = trial;
    sweep_.value = value;
  }

  const std::span<const KnownCurve> curves_;
  const SearchConfig& config_;
  const std::unique_ptr<Scheduler> scheduler_;
  const bool knows_seconds_;
  std::set<Report> reports_;  // the next one of each trial that runs
  size_t next_ = 0;
  SimulatedSweep sweep_;
};

}  // namespace

SimulatedSweep Simulate(std::span<const KnownCurve> curves,
                        const SearchConfig& config,
                        int64_t concurrency) {
  assert(concurrency >= 1);
  SimulatedSweep sweep = Simulation(curves, config).Run(concurrency);
  std::ranges::sort(sweep.beyond);
  return sweep;
}

}  // namespace hyperopt

#include "search/simulate.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <set>

#include "search/scheduler.h"

namespace hyperopt {
namespace {

class AsGiven final : public StartOrder {
 public:
  explicit AsGiven(size_t count) : count_(count) {}
  bool more() const override { return next_ < count_; }
  std::optional<size_t> Next() override {
    return more() ? std::optional(next_++) : std::nullopt;
  }
  void Told(size_t /*curve*/, const SimulatedEnd& /*end*/) override {}

 private:
  const size_t count_;
  size_t next_ = 0;
};

class Simulation {
 public:
  Simulation(std::span<const KnownCurve> curves,
             const SearchConfig& config,
             StartOrder* order)
      : curves_(curves),
        config_(config),
        order_(order),
        scheduler_(MakeScheduler(config.scheduler, config.goal, config.sampler.seed)),
        knows_seconds_(std::ranges::any_of(curves, [](const KnownCurve& curve) {
          return !curve.points.empty() && curve.points.back().elapsed_s > 0;
        })) {
    for (size_t i = 0; i < curves.size(); ++i) index_of_[curves[i].trial] = i;
  }

  SimulatedSweep Run(int64_t concurrency) {
    for (int64_t place = 0; place < concurrency && StartOne(0); ++place) ++running_;
    while (!reports_.empty()) {
      const Report report = reports_.extract(reports_.begin()).value();
      if (!Take(report)) continue;
      --running_;
      while (running_ < concurrency && StartOne(report.at)) ++running_;
    }
    for (const size_t curve : started_) Count(curve);
    return std::move(sweep_);
  }

 private:
  struct Report {
    double at;
    size_t index;  // within the curve
    size_t curve;
    auto operator<=>(const Report&) const = default;
  };
  struct Progress {
    size_t reported = 0;  // points that were told
    double began = 0;     // when its curve would have begun, had it never waited
  };

  double SecondsAt(const KnownCurve::Point& point) const {
    return knows_seconds_ ? point.elapsed_s : static_cast<double>(point.time);
  }

  // What waits goes first. False where nothing starts now.
  bool StartOne(double now) {
    while (true) {
      if (const auto next = scheduler_->NextPromotion(order_->more())) {
        assert(!next->parent);
        scheduler_->OnPromoted(next->trial);
        if (Go(index_of_.at(next->trial), now)) return true;
        continue;
      }
      const std::optional<size_t> curve = order_->Next();
      if (!curve) return false;
      started_.push_back(*curve);
      if (Go(*curve, now)) return true;
    }
  }

  // From where it stands. False where nothing more is known of it.
  bool Go(size_t index, double now) {
    const KnownCurve& curve = curves_[index];
    Progress& progress = progress_[index];
    if (progress.reported == curve.points.size()) {
      EndOfRecord(index);
      return false;
    }
    const bool waited = progress.reported > 0;
    progress.began =
        waited ? now - SecondsAt(curve.points[progress.reported - 1]) : now;
    Await(index, now);
    return true;
  }

  void Await(size_t index, double now) {
    const Progress& progress = progress_.at(index);
    const KnownCurve::Point& point = curves_[index].points[progress.reported];
    reports_.insert(
        {std::max(now, progress.began + SecondsAt(point)), progress.reported, index});
  }

  // Whether its place is free.
  bool Take(const Report& report) {
    const KnownCurve& curve = curves_[report.curve];
    const KnownCurve::Point& point = curve.points[report.index];
    ++progress_.at(report.curve).reported;
    ++sweep_.reports;
    if (config_.value == ValueRule::kBest) Rank(curve.trial, point.value);
    const Verdict verdict =
        scheduler_->OnMeasurement(curve.trial, point.time, point.value);
    const std::optional<int64_t> max_t = scheduler_->max_time();
    const bool complete = max_t && point.time >= *max_t;
    const bool over = report.index + 1 == curve.points.size();
    sweep_.wall_s = std::max(sweep_.wall_s, report.at);
    if (!complete && verdict.decision == Decision::kPause) {
      scheduler_->OnPaused(curve.trial);
      Tell(report.curve, TrialState::kPaused);
    } else if (complete || verdict.decision != Decision::kContinue) {
      const bool stopped = !complete && verdict.decision == Decision::kStop;
      scheduler_->OnEnded(curve.trial);
      Tell(report.curve, stopped ? TrialState::kStopped : TrialState::kCompleted);
    } else if (over) {
      EndOfRecord(report.curve);
    } else {
      Await(report.curve, report.at);
      return false;
    }
    return true;
  }

  void EndOfRecord(size_t index) {
    const KnownCurve& curve = curves_[index];
    if (curve.failed) {
      scheduler_->OnFailed(curve.trial);
      failed_.insert(index);
    }
    if (curve.cut_short) sweep_.beyond.push_back(curve.trial);
    scheduler_->OnEnded(curve.trial);
    Tell(index,
         curve.failed      ? TrialState::kFailed
         : curve.cut_short ? TrialState::kStopped
                           : TrialState::kCompleted);
  }

  Objective ValueOf(size_t index) const {
    Objective best;
    for (size_t i = 0; i < progress_.at(index).reported; ++i) {
      const Objective& value = curves_[index].points[i].value;
      const bool last = config_.value == ValueRule::kLast;
      if (last || best.missing() || Better(config_.goal, value, best)) best = value;
    }
    return best;
  }
  int64_t Reached(size_t index) const {
    int64_t reached = 0;
    for (size_t i = 0; i < progress_.at(index).reported; ++i) {
      reached = std::max(reached, curves_[index].points[i].time);
    }
    return reached;
  }

  void Tell(size_t index, TrialState state) {
    order_->Told(index, {state, ValueOf(index), Reached(index)});
  }

  // A trial as it stands at the end.
  void Count(size_t index) {
    const KnownCurve& curve = curves_[index];
    const size_t reported = progress_.at(index).reported;
    sweep_.order.push_back(curve.trial);
    const bool failed = failed_.contains(index);
    sweep_.values.push_back(failed ? Objective::Missing() : ValueOf(index));
    if (reported == 0) return;
    if (reported < curve.points.size()) ++sweep_.ended_early;
    sweep_.time += Reached(index);
    sweep_.trial_s += curve.points[reported - 1].elapsed_s;
    if (config_.value == ValueRule::kLast && !failed) {
      Rank(curve.trial, curve.points[reported - 1].value);
    }
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
  StartOrder* const order_;
  const std::unique_ptr<Scheduler> scheduler_;
  const bool knows_seconds_;
  std::map<TrialId, size_t> index_of_;
  std::map<size_t, Progress> progress_;
  std::vector<size_t> started_;
  std::set<size_t> failed_;
  std::set<Report> reports_;  // the next one of each trial that runs
  int64_t running_ = 0;
  SimulatedSweep sweep_;
};

}  // namespace

SimulatedSweep Simulate(std::span<const KnownCurve> curves,
                        const SearchConfig& config,
                        int64_t concurrency) {
  AsGiven order(curves.size());
  return Simulate(curves, config, concurrency, &order);
}

SimulatedSweep Simulate(std::span<const KnownCurve> curves,
                        const SearchConfig& config,
                        int64_t concurrency,
                        StartOrder* order) {
  assert(concurrency >= 1);
  SimulatedSweep sweep = Simulation(curves, config, order).Run(concurrency);
  std::ranges::sort(sweep.beyond);
  return sweep;
}

}  // namespace hyperopt

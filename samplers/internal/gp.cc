#include "samplers/internal/gp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "samplers/internal/acquisition.h"
#include "samplers/internal/gp_parts.h"
#include "samplers/internal/optimise_mixed.h"
#include "samplers/internal/parzen.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kAnchors = 4;
constexpr size_t kDraws = 256;
constexpr size_t kMostDraws = 16 * kDraws;  // where constraints leave little
// Once so many trials brought nothing better, every fourth one takes the lower
// confidence bound, and every fourth one a draw near the good trials.
constexpr size_t kStale = 8;
constexpr double kBoundSds = 2;

enum class Wish { kImprovement, kAugmented, kBound };

// Expected improvement stays where it found something: where a model takes a rough
// function for noise, it looks around its best trial for ever. The augmented one gives
// nothing for noise. Where trials are stopped early that is wrong: a value is low for a
// short training, and one more beside the best is worth its cost. The bound goes where
// least is known.
LogImprovement Wished(Wish wish, double best, double mean, double sd, double noise) {
  if (wish == Wish::kImprovement) return LogExpectedImprovement(best, mean, sd);
  if (wish == Wish::kAugmented) return LogAugmentedImprovement(best, mean, sd, noise);
  return {kBoundSds * sd - mean, -1, kBoundSds};
}

// Several models that differ in theta: the mean of their improvements, or of their
// bounds.
class Ensemble {
 public:
  Ensemble(Wish wish,
           const Encoding& encoding,
           const GpData& data,
           std::span<const Row> pending,
           std::span<const Vector> thetas)
      : wish_(wish) {
    for (const Vector& theta : thetas) {
      models_.emplace_back(encoding, data.rows, data.y, theta);
      for (const Row& row : pending) models_.back().Believe(row);
      // What a trial that runs will find is no improvement any more.
      best_.push_back(models_.back().LeastMean());
    }
  }

  std::vector<double> Many(std::span<const Row> rows) const {
    std::vector<std::vector<double>> values(rows.size());
    for (size_t m = 0; m < models_.size(); ++m) {
      Vector mean, variance;
      models_[m].Predict(rows, &mean, &variance);
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto at = static_cast<Eigen::Index>(i);
        values[i].push_back(WishedBy(m, mean[at], std::sqrt(variance[at])).value);
      }
    }
    std::vector<double> result;
    for (const auto& by_model : values) result.push_back(LogMean(by_model));
    return result;
  }

  double One(const Row& row, std::vector<double>& gradient) const {
    std::vector<double> values;
    std::vector<Vector> gradients;
    for (size_t m = 0; m < models_.size(); ++m) {
      double mean = 0, variance = 0;
      Vector by_mean, by_variance;
      models_[m].Predict(row, &mean, &variance, &by_mean, &by_variance);
      const double sd = std::sqrt(variance);
      const LogImprovement ei = WishedBy(m, mean, sd);
      values.push_back(ei.value);
      gradients.push_back(ei.by_mean * by_mean + ei.by_sd / (2 * sd) * by_variance);
    }
    const double result = LogMean(values);
    gradient.assign(row.size(), 0);
    for (size_t m = 0; m < values.size(); ++m) {
      const double share =
          std::exp(values[m] - result) / static_cast<double>(values.size());
      for (size_t j = 0; j < row.size(); ++j) {
        gradient[j] += share * gradients[m][static_cast<Eigen::Index>(j)];
      }
    }
    return result;
  }

 private:
  LogImprovement WishedBy(size_t m, double mean, double sd) const {
    return Wished(wish_, best_[m], mean, sd, models_[m].noise_sd());
  }

  const Wish wish_;
  std::vector<GpModel> models_;
  std::vector<double> best_;
};

class GpProposer final : public Proposer {
 public:
  GpProposer(const Encoding& encoding, uint64_t seed)
      : encoding_(encoding), seed_(seed) {}

  std::vector<Row> Propose(TrialId id, const Observations& seen) const override {
    if (encoding_.size() == 0) return {Row{}};
    const std::span<const Observation> ended = seen.ended();
    Fit(ended, seen.generation());
    const GpData data = DataOf(ended, kMostConditioned);
    // A maximum of the improvement lies in a corner of the space more often than an
    // objective's does, most of all where many trials are equally good.
    const bool stale = IsStale(ended);
    const bool bound = stale && id.value() % 4 == 1;
    const bool near_good = stale && id.value() % 4 == 3;
    const Wish improvement = AnyPruned(ended) ? Wish::kImprovement : Wish::kAugmented;
    const Ensemble ensemble(
        bound ? Wish::kBound : improvement, encoding_, data, seen.pending(), thetas_);
    Rng rng(seed_, id, "gp");
    std::vector<Row> rows =
        near_good ? DrawNearGood(ensemble, data, rng) : Everywhere(ensemble, data, rng);
    MoveNew(rows, ended, seen.pending());
    return rows;
  }

 private:
  static bool AnyPruned(std::span<const Observation> ended) {
    return std::ranges::any_of(
        ended, [](const Observation& o) { return o.outcome == Outcome::kPruned; });
  }

  // Whether the newest trials brought nothing better than those before.
  static bool IsStale(std::span<const Observation> ended) {
    if (ended.size() <= kStale) return false;
    const auto least = [](std::span<const Observation> some) {
      double value = std::numeric_limits<double>::infinity();
      for (const Observation& each : some) {
        if (each.outcome != Outcome::kFailed) value = std::min(value, each.value);
      }
      return value;
    };
    return least(ended.last(kStale)) >= least(ended.first(ended.size() - kStale));
  }

  std::vector<Row> Everywhere(const Ensemble& ensemble,
                              const GpData& data,
                              Rng& rng) const {
    const Score score{
        [&](std::span<const Row> rows) { return ensemble.Many(rows); },
        [&](const Row& row, std::vector<double>& g) { return ensemble.One(row, g); }};
    return OptimiseMixed(encoding_,
                         score,
                         BestOf(data, kAnchors),
                         EffortOf(data.rows.size()),
                         WarpOf(encoding_, MeanOf(thetas_)),
                         rng);
  }

  // One categorical axis has one level in all rows. Where a category was tried with
  // numbers that suit another one the model thinks badly of it, and would not return.
  void ForceCategory(std::vector<Row>& rows, Rng& rng) const {
    std::vector<size_t> categorical;
    for (size_t j = 0; j < encoding_.size(); ++j) {
      if (encoding_.axes()[j].kind == AxisKind::kCategorical) categorical.push_back(j);
    }
    if (categorical.empty()) return;
    const size_t axis = categorical[rng.Below(categorical.size())];
    const auto levels = static_cast<uint64_t>(encoding_.axes()[axis].levels);
    const auto level = static_cast<double>(rng.Below(levels));
    for (Row& row : rows) row[axis] = level;
  }

  std::vector<Row> DrawNearGood(const Ensemble& ensemble,
                                const GpData& data,
                                Rng& rng) const {
    const ParzenMixture good =
        MixtureOfGood(encoding_, BestOf(data, GoodCount(data.rows.size())));
    std::vector<Row> draws;
    for (size_t i = 0; i < kMostDraws && draws.size() < kDraws; ++i) {
      draws.push_back(good.Draw(rng));
      if (!encoding_.Allows(draws.back())) draws.pop_back();
    }
    std::vector<Row> as_drawn = draws;
    ForceCategory(draws, rng);
    std::erase_if(draws, [&](const Row& row) { return !encoding_.Allows(row); });
    if (draws.empty()) draws = std::move(as_drawn);
    if (draws.empty()) return Everywhere(ensemble, data, rng);
    const std::vector<double> scores = ensemble.Many(draws);
    std::vector<size_t> order(draws.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order,
                             [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    std::vector<Row> rows;
    for (size_t i : order) rows.push_back(std::move(draws[i]));
    return rows;
  }

  void Fit(std::span<const Observation> ended, int64_t generation) const {
    const size_t prefix = PrefixOf(ended.size());
    if (prefix == fitted_ && generation == generation_) return;
    const GpData data = DataOf(ended.first(prefix), kMostFitted);
    Rng rng(seed_, TrialId(static_cast<int64_t>(prefix)), "gp theta");
    const Bending bending = AnyPruned(ended.first(prefix)) ? Bending::kWhereFarLikelier
                                                           : Bending::kWhereLikelier;
    thetas_ = FitThetas(encoding_, data, prefix, bending, rng);
    fitted_ = prefix;
    generation_ = generation;
  }

  const Encoding& encoding_;
  const uint64_t seed_;
  // Memoised: of the first `fitted_` observations.
  mutable std::vector<Vector> thetas_;
  mutable size_t fitted_ = 0;
  mutable int64_t generation_ = -1;
};

}  // namespace

std::unique_ptr<Proposer> MakeGpProposer(const Encoding& encoding, uint64_t seed) {
  return std::make_unique<GpProposer>(encoding, seed);
}

}  // namespace hyperopt::internal

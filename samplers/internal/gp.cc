#include "samplers/internal/gp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "samplers/internal/acquisition.h"
#include "samplers/internal/gp_fit.h"
#include "samplers/internal/optimise_mixed.h"
#include "samplers/internal/output_warp.h"
#include "samplers/internal/parzen.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kEachSize = 32;
constexpr size_t kMostModels = 8;
constexpr size_t kModelsTimesSize = 256;
constexpr size_t kMostSampled = 100;      // beyond, the most likely theta
constexpr size_t kMostFitted = 200;       // observations theta is fitted on
constexpr size_t kMostConditioned = 500;  // observations a model knows
constexpr size_t kAnchors = 4;
constexpr double kClosest = 1e-5;
// Of two trials at once the second is not to wait for the last digits of the first.
constexpr double kClosestPending = 1e-3;
constexpr size_t kDraws = 256;
constexpr size_t kMostDraws = 16 * kDraws;  // where constraints leave little
// A model of more trials than this scores fewer candidates: each costs their square.
constexpr double kFullEffort = 160;
// Once so many trials brought nothing better, every fourth one takes the lower
// confidence bound, and every fourth one a draw near the good trials.
constexpr size_t kStale = 8;
constexpr double kBoundSds = 2;

// The better half of the `most` and the newest of the others, in their order.
std::vector<size_t> Subset(std::span<const double> y, size_t most) {
  std::vector<size_t> all(y.size());
  std::iota(all.begin(), all.end(), size_t{0});
  if (y.size() <= most) return all;
  std::ranges::stable_sort(all, [&](size_t a, size_t b) { return y[a] < y[b]; });
  const auto best = static_cast<ptrdiff_t>(most / 2);
  std::sort(all.begin() + best, all.end(), std::greater<size_t>());
  all.resize(most);
  std::ranges::sort(all);
  return all;
}

struct Data {
  std::vector<Row> rows;
  std::vector<double> y;
};

Data DataOf(std::span<const Observation> ended, size_t most) {
  const std::vector<double> y = WarpOutputs(ended);
  Data data;
  for (size_t i : Subset(y, most)) {
    data.rows.push_back(ended[i].row);
    data.y.push_back(y[i]);
  }
  return data;
}

enum class Wish { kImprovement, kBound };

// Expected improvement alone stays where it found something: on a rough function it
// looks around its best trial for ever. The bound goes where least is known.
LogImprovement Wished(Wish wish, double best, double mean, double sd) {
  if (wish == Wish::kImprovement) return LogExpectedImprovement(best, mean, sd);
  return {kBoundSds * sd - mean, -1, kBoundSds};
}

// Several models that differ in theta: the mean of their improvements, or of their
// bounds.
class Ensemble {
 public:
  Ensemble(Wish wish,
           const Encoding& encoding,
           const Data& data,
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
        values[i].push_back(
            Wished(wish_, best_[m], mean[at], std::sqrt(variance[at])).value);
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
      const LogImprovement ei = Wished(wish_, best_[m], mean, sd);
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
  static double LogMean(std::span<const double> values) {
    const double most = *std::ranges::max_element(values);
    double sum = 0;
    for (double v : values) sum += std::exp(v - most);
    return most + std::log(sum / static_cast<double>(values.size()));
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
    const Data data = DataOf(ended, kMostConditioned);
    // A maximum of the improvement lies in a corner of the space more often than an
    // objective's does, most of all where many trials are equally good.
    const bool stale = IsStale(ended);
    const bool bound = stale && id.value() % 4 == 1;
    const bool near_good = stale && id.value() % 4 == 3;
    const Ensemble ensemble(bound ? Wish::kBound : Wish::kImprovement,
                            encoding_,
                            data,
                            seen.pending(),
                            thetas_);
    Rng rng(seed_, id, "gp");
    std::vector<Row> rows =
        near_good ? DrawNearGood(ensemble, data, rng) : Everywhere(ensemble, data, rng);
    MoveNew(rows, ended, seen.pending());
    return rows;
  }

 private:
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

  static std::vector<Row> BestOf(const Data& data, size_t count) {
    std::vector<size_t> order(data.y.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order,
                             [&](size_t a, size_t b) { return data.y[a] < data.y[b]; });
    std::vector<Row> rows;
    for (size_t i = 0; i < std::min(count, order.size()); ++i) {
      rows.push_back(data.rows[order[i]]);
    }
    return rows;
  }

  std::vector<Row> Everywhere(const Ensemble& ensemble,
                              const Data& data,
                              Rng& rng) const {
    const Score score{
        [&](std::span<const Row> rows) { return ensemble.Many(rows); },
        [&](const Row& row, std::vector<double>& g) { return ensemble.One(row, g); }};
    const double effort =
        std::min(1.0, kFullEffort / static_cast<double>(data.rows.size()));
    return OptimiseMixed(encoding_, score, BestOf(data, kAnchors), effort, rng);
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
                                const Data& data,
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

  // Rows that repeat what was tried come last: nothing new would be learnt.
  static void MoveNew(std::vector<Row>& rows,
                      std::span<const Observation> ended,
                      std::span<const Row> pending) {
    const auto close = [](const Row& a, const Row& b, double distance) {
      for (size_t j = 0; j < a.size(); ++j) {
        if (std::fabs(a[j] - b[j]) > distance) return false;
      }
      return true;
    };
    const auto is_new = [&](const Row& row) {
      return std::ranges::none_of(
                 ended,
                 [&](const Observation& o) { return close(o.row, row, kClosest); }) &&
             std::ranges::none_of(pending, [&](const Row& other) {
               return close(other, row, kClosestPending);
             });
    };
    // The first new one is enough.
    const auto found = std::ranges::find_if(rows, is_new);
    if (found != rows.end()) std::rotate(rows.begin(), found, found + 1);
  }

  void Fit(std::span<const Observation> ended, int64_t generation) const {
    const size_t prefix = PrefixOf(ended.size());
    if (prefix == fitted_ && generation == generation_) return;
    const Data data = DataOf(ended.first(prefix), kMostFitted);
    const GpLikelihood likelihood(encoding_, data.rows, data.y);
    const ThetaPrior prior = PriorOf(encoding_);
    if (prefix <= kMostSampled) {
      const size_t count =
          std::clamp(kModelsTimesSize / prefix, size_t{1}, kMostModels);
      Rng rng(seed_, TrialId(static_cast<int64_t>(prefix)), "gp theta");
      thetas_ = SampleTheta(likelihood, prior, static_cast<int>(count), rng);
    } else {
      thetas_ = {MostLikelyTheta(likelihood, prior)};
    }
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

size_t PrefixOf(size_t n) {
  if (n <= kEachSize) return n;
  size_t size = kEachSize;
  while (size + (size + 3) / 4 <= n) size += (size + 3) / 4;
  return size;
}

std::unique_ptr<Proposer> MakeGpProposer(const Encoding& encoding, uint64_t seed) {
  return std::make_unique<GpProposer>(encoding, seed);
}

}  // namespace hyperopt::internal

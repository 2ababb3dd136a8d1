#include "samplers/internal/gp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "samplers/internal/acquisition.h"
#include "samplers/internal/gp_fit.h"
#include "samplers/internal/optimise_mixed.h"
#include "samplers/internal/output_warp.h"
#include "samplers/internal/tpe.h"

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
// A model of more trials than this scores fewer candidates: each costs their square.
constexpr double kFullEffort = 160;
// So many trials that brought nothing better make a search stale.
constexpr size_t kStale = 8;

// How a trial is chosen. The expected improvement alone stays where it found something:
// in the category that was good first, and on plateaus, where its greatest values lie
// in the corners of the space.
enum class Way {
  kImprovement,  // the greatest expected improvement
  kDensity,      // as tpe would
  kCategory,     // what is thought best with another category than the best trial's
  kBound,        // the least lower confidence bound: where least is known
};
struct Share {
  Way way;
  double share;  // the rest is kImprovement
};
constexpr Share kUsual[] = {{Way::kDensity, 0.15}, {Way::kCategory, 0.1}};
constexpr Share kWhereStale[] = {
    {Way::kDensity, 0.25}, {Way::kCategory, 0.25}, {Way::kBound, 0.05}};
constexpr double kCategorySds = 0.3;
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

// The expected improvement, or how far the bound of so many standard deviations is
// below 0.
LogImprovement Wished(std::optional<double> sds, double best, double mean, double sd) {
  if (!sds) return LogExpectedImprovement(best, mean, sd);
  return {*sds * sd - mean, -1, *sds};
}

// Several models that differ in theta: the mean of their improvements, or of their
// bounds.
class Ensemble {
 public:
  Ensemble(std::optional<double> sds,
           const Encoding& encoding,
           const Data& data,
           std::span<const Row> pending,
           std::span<const Vector> thetas)
      : sds_(sds) {
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
            Wished(sds_, best_[m], mean[at], std::sqrt(variance[at])).value);
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
      const LogImprovement ei = Wished(sds_, best_[m], mean, sd);
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

  const std::optional<double> sds_;
  std::vector<GpModel> models_;
  std::vector<double> best_;
};

class GpProposer final : public Proposer {
 public:
  GpProposer(const Encoding& encoding, uint64_t seed)
      : encoding_(encoding), seed_(seed), tpe_(MakeTpeProposer(encoding, seed)) {
    for (size_t j = 0; j < encoding_.size(); ++j) {
      if (encoding_.axes()[j].kind == AxisKind::kCategorical) categorical_.push_back(j);
    }
  }

  std::vector<Row> Propose(TrialId id, const Observations& seen) const override {
    if (encoding_.size() == 0) return {Row{}};
    const std::span<const Observation> ended = seen.ended();
    const Way way = WayOf(id, IsStale(ended));
    std::vector<Row> rows =
        way == Way::kDensity ? tpe_->Propose(id, seen) : ByModel(way, id, seen);
    MoveNew(rows, ended, seen.pending());
    return rows;
  }

 private:
  Way WayOf(TrialId id, bool stale) const {
    double u = Rng(seed_, id, "gp way").Uniform();
    for (const auto& [way, share] :
         stale ? std::span<const Share>(kWhereStale) : std::span<const Share>(kUsual)) {
      if (u < share) {
        const bool none = way == Way::kCategory && categorical_.empty();
        return none ? Way::kImprovement : way;
      }
      u -= share;
    }
    return Way::kImprovement;
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

  std::vector<Row> ByModel(Way way, TrialId id, const Observations& seen) const {
    Fit(seen.ended(), seen.generation());
    const Data data = DataOf(seen.ended(), kMostConditioned);
    Rng rng(seed_, id, "gp");
    const std::vector<Row> best = BestOf(data, kAnchors);
    std::optional<double> sds;
    std::optional<Excluded> excluded;
    if (way == Way::kBound) sds = kBoundSds;
    if (way == Way::kCategory) {
      // No improvement is asked for: where it is far from likely, its greatest value is
      // where least is known, whatever numbers were found good.
      sds = kCategorySds;
      const size_t axis = categorical_[rng.Below(categorical_.size())];
      excluded = {axis, best[0][axis]};
    }
    const Ensemble ensemble(sds, encoding_, data, seen.pending(), thetas_);
    const Score score{
        [&](std::span<const Row> rows) { return ensemble.Many(rows); },
        [&](const Row& row, std::vector<double>& g) { return ensemble.One(row, g); }};
    const double effort =
        std::min(1.0, kFullEffort / static_cast<double>(data.rows.size()));
    return OptimiseMixed(encoding_, score, best, effort, rng, excluded);
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
  const std::unique_ptr<Proposer> tpe_;
  std::vector<size_t> categorical_;  // axes
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

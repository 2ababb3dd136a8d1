#include "samplers/internal/gp_front.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "samplers/internal/acquisition.h"
#include "samplers/internal/front_model.h"
#include "samplers/internal/gp_parts.h"
#include "samplers/internal/optimise_mixed.h"
#include "samplers/internal/output_warp.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kAnchors = 8;

// Objective `i` as the only one.
std::vector<Observation> OnlyObjective(std::span<const Observation> ended, size_t i) {
  std::vector<Observation> only(ended.begin(), ended.end());
  for (Observation& each : only) {
    if (i > 0 && each.outcome != Outcome::kFailed) each.value = each.others[i - 1];
  }
  return only;
}

// The mean of the gains that several models expect.
Score MeanOf(std::span<const FrontModel> models) {
  Score score;
  score.many = [models](std::span<const Row> rows) {
    std::vector<std::vector<double>> values(rows.size());
    for (const FrontModel& model : models) {
      const std::vector<double> of_model = model.Many(rows);
      for (size_t i = 0; i < rows.size(); ++i) values[i].push_back(of_model[i]);
    }
    std::vector<double> result;
    for (const auto& by_model : values) result.push_back(LogMean(by_model));
    return result;
  };
  score.one = [models](const Row& row, std::vector<double>& gradient) {
    std::vector<double> values;
    std::vector<Vector> gradients(models.size());
    for (size_t m = 0; m < models.size(); ++m) {
      values.push_back(models[m].One(row, gradients[m]));
    }
    const double result = LogMean(values);
    Vector sum = Vector::Zero(std::ssize(row));
    for (size_t m = 0; m < models.size(); ++m) {
      sum += std::exp(values[m] - result) / static_cast<double>(models.size()) *
             gradients[m];
    }
    gradient.assign(sum.begin(), sum.end());
    return result;
  };
  return score;
}

class GpFrontProposer final : public Proposer {
 public:
  GpFrontProposer(const Encoding& encoding, size_t objectives, uint64_t seed)
      : encoding_(encoding), objectives_(objectives), seed_(seed) {}

  std::vector<Row> Propose(TrialId id, const Observations& seen) const override {
    if (encoding_.size() == 0) return {Row{}};
    Fit(seen);
    // What the better half is and where to look first: by non-domination.
    const Observations ranked = seen.AsOne(id, {});
    const GpData by_rank = DataOf(ranked.ended(), kMostConditioned);
    const FrontData data = WarpedOf(seen.ended(), ranked.ended());
    std::vector<FrontModel> models;
    for (const std::vector<Vector>& thetas : thetas_) {
      models.emplace_back(encoding_, data, seen.pending(), thetas);
    }
    Rng rng(seed_, id, "gp front");
    std::vector<Row> rows = OptimiseMixed(encoding_,
                                          MeanOf(models),
                                          BestOf(by_rank, kAnchors),
                                          EffortOf(data.rows.size()),
                                          InputWarp(encoding_.size()),
                                          rng);
    MoveNew(rows, seen.ended(), seen.pending());
    return rows;
  }

 private:
  FrontData WarpedOf(std::span<const Observation> ended,
                     std::span<const Observation> ranked) const {
    const std::vector<size_t> places = Subset(WarpOutputs(ranked), kMostConditioned);
    FrontData data;
    for (size_t k : places) data.rows.push_back(ended[k].row);
    for (size_t i = 0; i < objectives_; ++i) {
      const std::vector<double> y = WarpOutputs(OnlyObjective(ended, i));
      data.y.emplace_back();
      for (size_t k : places) data.y.back().push_back(y[k]);
    }
    return data;
  }

  // As of one objective, each by itself.
  void Fit(const Observations& seen) const {
    const std::span<const Observation> ended = seen.ended();
    const size_t prefix = PrefixOf(ended.size());
    if (prefix == fitted_ && seen.generation() == generation_) return;
    thetas_.clear();
    for (size_t i = 0; i < objectives_; ++i) {
      const GpData data = DataOf(OnlyObjective(ended.first(prefix), i), kMostFitted);
      Rng rng(seed_,
              TrialId(static_cast<int64_t>(prefix)),
              fmt::format("gp theta of objective {}", i));
      // Warped inputs made fronts worse on four of seven problems (README.md).
      const std::vector<Vector> thetas =
          FitThetas(encoding_, data, prefix, Bending::kNever, rng);
      thetas_.resize(thetas.size());
      for (size_t m = 0; m < thetas.size(); ++m) thetas_[m].push_back(thetas[m]);
    }
    fitted_ = prefix;
    generation_ = seen.generation();
  }

  const Encoding& encoding_;
  const size_t objectives_;
  const uint64_t seed_;
  // Memoised: of the first `fitted_` observations; by model and objective.
  mutable std::vector<std::vector<Vector>> thetas_;
  mutable size_t fitted_ = 0;
  mutable int64_t generation_ = -1;
};

}  // namespace

std::unique_ptr<Proposer> MakeGpFrontProposer(const Encoding& encoding,
                                              size_t objectives,
                                              uint64_t seed) {
  return std::make_unique<GpFrontProposer>(encoding, objectives, seed);
}

}  // namespace hyperopt::internal

#include "samplers/internal/model_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "samplers/internal/cmaes.h"
#include "samplers/internal/fill.h"
#include "samplers/internal/gp.h"
#include "samplers/internal/gp_front.h"
#include "samplers/internal/sobol.h"
#include "samplers/internal/tpe.h"
#include "samplers/internal/variants.h"
#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

// A finite space up to this size is enumerated to find what is left.
constexpr int64_t kMostEnumerated = 4096;
constexpr int64_t kMostFilteredCells = 1 << 18;  // where many cells are no trial
constexpr int kTries = 64;
// Gaussian processes serve well up to this many dimensions and trials; kAuto.
constexpr size_t kMostGpAxes = 40;
constexpr int64_t kMostGpTrials = 300;

// Seconds of a trial below which kAuto takes it for quick, or for instant. A Gaussian
// process takes up to a quarter of a second a proposal, TPE about a millisecond.
constexpr double kQuickS = 1;
constexpr double kInstantS = 0.005;
constexpr ptrdiff_t kPaceOf = 31;  // trials

bool HasValue(const Observations& seen) {
  return std::ranges::any_of(seen.ended(), [](const Observation& observation) {
    return observation.outcome != Outcome::kFailed;
  });
}

class ModelSampler final : public Sampler {
 public:
  ModelSampler(const SearchSpace& space, const SamplerOptions& options)
      : space_(space),
        options_(options),
        encoding_(space_),
        seen_(encoding_, options.goal, options.known, options.other_goals),
        startup_(StartupTrials(encoding_) - std::ssize(options.known)) {
    const SamplerKind kind = options.kind;
    const bool is_auto = kind == SamplerKind::kAuto;
    if (is_auto) gp_until_ = RuleOfAuto(encoding_).gp_until;
    if (kind == SamplerKind::kGp) gp_until_ = std::numeric_limits<int64_t>::max();
    if (kind == SamplerKind::kGp || gp_until_ > 0) {
      gp_ = MakeGpProposer(encoding_, options.seed);
      const size_t objectives = options.other_goals.size() + 1;
      if (objectives > 1 && objectives <= kMostFrontObjectives) {
        gp_front_ = MakeGpFrontProposer(encoding_, objectives, options.seed);
      }
    }
    if (kind == SamplerKind::kCmaes) {
      cmaes_ = MakeCmaesProposer(encoding_, options.seed);
    }
    if (kind == SamplerKind::kTpe || is_auto) {
      tpe_ = MakeTpeProposer(encoding_, options.seed);
    }
  }
  ModelSampler(const ModelSampler&) = delete;  // members refer to one another
  ModelSampler& operator=(const ModelSampler&) = delete;

  std::optional<Params> Suggest(TrialId id, const History& history) const override {
    if (id.value() < 0 || id.value() >= options_.num_samples) return std::nullopt;
    if (id.value() < std::ssize(options_.points_to_evaluate)) return Point(id);
    const Pace pace =
        options_.kind == SamplerKind::kAuto ? PaceOf(history) : Pace::kSlow;
    if (pace == Pace::kInstant) {
      Params params = ParamsOf(DesignRow(DesignIndex(id)));
      return space_.Violated(params) == nullptr ? params : Drawn(id, {});
    }
    seen_.Update(history);
    const std::set<Params> tried = Tried(history);
    for (const Row& row : Rows(id, pace)) {
      Params params = ParamsOf(row);
      if (!tried.contains(params) && space_.Violated(params) == nullptr) return params;
    }
    std::optional<Params> untried = Untried(id, tried);
    // Nobody chose a model here, so the stated number of trials comes.
    if (!untried && options_.kind == SamplerKind::kAuto) return Drawn(id, {});
    return untried;
  }

  // A finite space may end sooner, which depends on what came before.
  std::optional<int64_t> TrialCount() const override {
    const auto cells = encoding_.cells();
    if (options_.kind == SamplerKind::kAuto) return options_.num_samples;
    if (cells && (IsFiltered(space_) || *cells < options_.num_samples))
      return std::nullopt;
    return options_.num_samples;
  }
  bool needs_history() const override { return true; }

 private:
  std::optional<Params> Point(TrialId id) const {
    return Drawn(id, options_.points_to_evaluate[static_cast<size_t>(id.value())]);
  }

  // What `params` leaves open is drawn.
  std::optional<Params> Drawn(TrialId id, Params params) const {
    return Fill(space_, std::move(params), options_.seed, id);
  }

  Params ParamsOf(const Row& row) const {
    return space_.Active(encoding_.ToParams(row));
  }

  // What was tried or is being tried. Only a finite space can meet a setting twice
  // with any probability worth the comparison.
  std::set<Params> Tried(const History& history) const {
    std::set<Params> tried;
    if (!encoding_.cells()) return tried;
    for (const HistoryEntry& entry : history.ended) tried.insert(entry.params);
    for (const HistoryEntry& entry : history.pending) tried.insert(entry.params);
    return tried;
  }

  std::vector<Row> Rows(TrialId id, Pace pace) const {
    const bool design = DesignIndex(id) < startup_ || !HasValue(seen_);
    const bool gp = id.value() < gp_until_ && pace == Pace::kSlow;
    const Proposer* proposer = cmaes_ ? cmaes_.get() : gp ? gp_.get() : tpe_.get();
    if (design || proposer == nullptr) return {DesignRow(DesignIndex(id))};
    const size_t others = options_.other_goals.size();
    if (others == 0) return proposer->Propose(id, seen_);
    // With three objectives neither is always ahead; samplers/README.md has figures.
    const bool weighs = others > 1 && id.value() % 2 == 1;
    if (gp && gp_front_ && !weighs) return gp_front_->Propose(id, seen_);
    const std::vector<double> weights = gp ? Weights(id) : std::vector<double>();
    return proposer->Propose(id, seen_.AsOne(id, weights));
  }

  // Of each objective, evenly from all that sum to one.
  std::vector<double> Weights(TrialId id) const {
    Rng rng(options_.seed, id, "objectives");
    std::vector<double> weights(options_.other_goals.size() + 1);
    double sum = 0;
    for (double& weight : weights) sum += weight = -std::log1p(-rng.Uniform());
    for (double& weight : weights) weight /= sum > 0 ? sum : 1;
    return weights;
  }

  int64_t DesignIndex(TrialId id) const {
    return id.value() - std::ssize(options_.points_to_evaluate);
  }

  // The middle first: most people put what they believe in there.
  Row DesignRow(int64_t index) const {
    std::vector<double> cube(encoding_.size(), 0.5);
    const auto sobol =
        SobolPoint(static_cast<uint64_t>(index), encoding_.size(), options_.seed);
    for (size_t i = 0; i < cube.size(); ++i) {
      const bool middle = options_.kind != SamplerKind::kSobol && index == 0 &&
                          encoding_.axes()[i].kind != AxisKind::kCategorical;
      if (!middle) cube[i] = sobol[i];
    }
    return encoding_.FromCube(cube);
  }

  // All that was proposed has been tried: another setting, nullopt where none is left.
  std::optional<Params> Untried(TrialId id, const std::set<Params>& tried) const {
    Rng rng(options_.seed, id, "untried");
    const auto is_good = [&](const Params& params) {
      return !tried.contains(params) && space_.Violated(params) == nullptr;
    };
    for (int i = 0; i < kTries; ++i) {
      std::vector<double> cube(encoding_.size());
      for (double& u : cube) u = rng.Uniform();
      Params params = ParamsOf(encoding_.FromCube(cube));
      if (is_good(params)) return params;
    }
    if (!encoding_.cells()) return Drawn(id, {});
    const int64_t cells = *encoding_.cells();
    // Only a space that is nearly used up comes here, so few cells lie between two
    // that are left.
    const auto start = static_cast<int64_t>(rng.Below(static_cast<uint64_t>(cells)));
    const int64_t most = IsFiltered(space_)
                             ? std::min(cells, kMostFilteredCells)
                             : std::min(cells, kMostEnumerated + 2 * std::ssize(tried));
    for (int64_t i = 0; i < most; ++i) {
      Params params = space_.Active(encoding_.CellAt((start + i) % cells));
      if (is_good(params)) return params;
    }
    return std::nullopt;
  }

  const SearchSpace space_;
  const SamplerOptions options_;
  const Encoding encoding_;
  mutable Observations seen_;  // memoised; Suggest is thread-compatible
  const int64_t startup_;
  std::unique_ptr<Proposer> gp_, tpe_, cmaes_;  // none for kSobol
  std::unique_ptr<Proposer> gp_front_;          // where gp takes all objectives
  int64_t gp_until_ = 0;                        // trials before it are gp_'s
};

}  // namespace

int64_t StartupTrials(const Encoding& encoding) {
  return std::clamp<int64_t>(std::ssize(encoding.axes()) + 1, 3, 10);
}

Pace PaceOf(const History& history) {
  std::vector<double> seconds;
  for (auto entry = history.ended.rbegin();
       entry != history.ended.rend() && std::ssize(seconds) < kPaceOf;
       ++entry) {
    if (entry->seconds > 0) seconds.push_back(entry->seconds);
  }
  if (seconds.empty()) return Pace::kSlow;
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  if (*middle < kInstantS) return Pace::kInstant;
  return *middle < kQuickS ? Pace::kQuick : Pace::kSlow;
}

AutoRule RuleOfAuto(const Encoding& encoding) {
  return {encoding.size() <= kMostGpAxes ? kMostGpTrials : 0};
}

std::unique_ptr<Sampler> MakeModelSampler(const SearchSpace& space,
                                          const SamplerOptions& options) {
  return std::make_unique<ModelSampler>(space, options);
}

}  // namespace hyperopt::internal

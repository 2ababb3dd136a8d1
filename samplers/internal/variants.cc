#include "samplers/internal/variants.h"

#include <algorithm>
#include <cassert>

#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

// nullopt where the product is over the limit.
std::optional<int64_t> Times(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t product = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product) || product > kMostTrials) {
    return std::nullopt;
  }
  return product;
}

std::optional<int64_t> Plus(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a || !b || *a + *b > kMostTrials) return std::nullopt;
  return *a + *b;
}

// The grid cells that a point leaves open.
std::optional<int64_t> OpenCells(const SearchSpace& space,
                                 SamplerKind kind,
                                 const Params& point) {
  std::optional<int64_t> cells = 1;
  for (const Parameter& parameter : space.parameters()) {
    const auto size = GridSize(kind, parameter.domain);
    if (size && !point.contains(parameter.name)) cells = Times(cells, size);
  }
  return cells;
}

class VariantSampler final : public Sampler {
 public:
  VariantSampler(const SearchSpace& space, const SamplerOptions& options)
      : space_(space), options_(options), count_(CountTrials(space, options).value()) {
    for (const Parameter& parameter : space_.parameters()) {
      if (const auto size = GridSize(options_.kind, parameter.domain)) {
        axes_.push_back({&parameter, *size});
      }
    }
    std::ranges::sort(axes_, {}, [](const Axis& a) { return a.parameter->name; });
    for (const Params& point : options_.points_to_evaluate) {
      point_ends_.push_back(PointsEnd() +
                            OpenCells(space_, options_.kind, point).value());
    }
    // Nothing asks for the cells of later samples where points take them all; there may
    // be too many to count then.
    cells_ = OpenCells(space_, options_.kind, {}).value_or(kMostTrials);
  }
  VariantSampler(const VariantSampler&) = delete;  // axes_ points into space_
  VariantSampler& operator=(const VariantSampler&) = delete;

  std::optional<Params> Suggest(TrialId id, const History&) const override {
    if (id.value() < 0 || id.value() >= count_) return std::nullopt;
    const Place place = Locate(id.value());
    Params params = PointOf(place.sample);
    AddCell(place.cell, params);
    const TrialId key = options_.constant_grid_search ? TrialId(place.sample) : id;
    for (const Parameter& parameter : space_.parameters()) {
      if (params.contains(parameter.name)) continue;
      Rng rng(options_.seed, key, parameter.name);
      params[parameter.name] = Draw(parameter.domain, rng);
    }
    return params;
  }

  std::optional<int64_t> TrialCount() const override { return count_; }
  bool needs_history() const override { return false; }

 private:
  struct Axis {
    const Parameter* parameter;
    int64_t size;
  };
  struct Place {
    int64_t sample;
    int64_t cell;
  };

  int64_t PointsEnd() const { return point_ends_.empty() ? 0 : point_ends_.back(); }

  Place Locate(int64_t trial) const {
    if (trial >= PointsEnd()) {
      const int64_t after = trial - PointsEnd();
      return {std::ssize(point_ends_) + after / cells_, after % cells_};
    }
    const auto end = std::ranges::upper_bound(point_ends_, trial);
    const int64_t begin = end == point_ends_.begin() ? 0 : *std::prev(end);
    return {end - point_ends_.begin(), trial - begin};
  }

  // The values that the sample's point names; none where it has no point.
  Params PointOf(int64_t sample) const {
    if (sample >= std::ssize(options_.points_to_evaluate)) return {};
    Params params = options_.points_to_evaluate[static_cast<size_t>(sample)];
    for (auto& [name, value] : params) value = Typed(space_.Find(name)->domain, value);
    return params;
  }

  void AddCell(int64_t cell, Params& params) const {
    for (const Axis& axis : axes_) {
      if (params.contains(axis.parameter->name)) continue;
      params[axis.parameter->name] = ValueAt(axis.parameter->domain, cell % axis.size);
      cell /= axis.size;
    }
    assert(cell == 0);
  }

  const SearchSpace space_;
  const SamplerOptions options_;
  const int64_t count_;
  std::vector<Axis> axes_;           // sorted by name
  std::vector<int64_t> point_ends_;  // the trial after each point's last
  int64_t cells_ = 1;                // of a sample without a point
};

}  // namespace

std::optional<int64_t> GridSize(SamplerKind kind, const Domain& domain) {
  const bool runs_through =
      kind == SamplerKind::kGrid || std::holds_alternative<GridDomain>(domain);
  return runs_through ? Cardinality(domain) : std::nullopt;
}

std::optional<int64_t> CountTrials(const SearchSpace& space,
                                   const SamplerOptions& options) {
  std::optional<int64_t> count = 0;
  for (const Params& point : options.points_to_evaluate) {
    count = Plus(count, OpenCells(space, options.kind, point));
  }
  const int64_t samples = options.num_samples - std::ssize(options.points_to_evaluate);
  assert(samples >= 0);
  if (samples == 0) return count;
  return Plus(count, Times(samples, OpenCells(space, options.kind, {})));
}

std::unique_ptr<Sampler> MakeVariantSampler(const SearchSpace& space,
                                            const SamplerOptions& options) {
  return std::make_unique<VariantSampler>(space, options);
}

}  // namespace hyperopt::internal

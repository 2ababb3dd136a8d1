#include "samplers/internal/variants.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <string>
#include <vector>

#include "samplers/internal/fill.h"

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

// A parameter that is run through.
struct Axis {
  const Parameter* parameter;
  int64_t size;
};

std::vector<Axis> AxesOf(const SearchSpace& space, SamplerKind kind) {
  std::vector<Axis> axes;
  for (const Parameter& parameter : space.parameters()) {
    if (const auto size = GridSize(kind, parameter.domain)) {
      axes.push_back({&parameter, *size});
    }
  }
  std::ranges::sort(axes, {}, [](const Axis& a) { return a.parameter->name; });
  return axes;
}

// Adds the values of cell number `cell` among those that `params` leaves open.
void AddCell(std::span<const Axis> axes, int64_t cell, Params& params) {
  for (const Axis& axis : axes) {
    if (params.contains(axis.parameter->name)) continue;
    params[axis.parameter->name] = ValueAt(axis.parameter->domain, cell % axis.size);
    cell /= axis.size;
  }
  assert(cell == 0);
}

// All cells that a point leaves open, whatever must hold between them.
std::optional<int64_t> OpenCells(std::span<const Axis> axes, const Params& point) {
  std::optional<int64_t> cells = 1;
  for (const Axis& axis : axes) {
    if (!point.contains(axis.parameter->name)) cells = Times(cells, axis.size);
  }
  return cells;
}

// Whether a cell is a trial of its own: what takes no part is at its first value, so
// that no setting comes twice, and the constraints hold, or may hold for what is drawn.
bool IsOwnCell(const SearchSpace& space,
               std::span<const Axis> axes,
               const Params& point,
               int64_t cell,
               uint64_t seed) {
  Params params = point;
  AddCell(axes, cell, params);
  const Params active = space.Active(params);
  if (space.Violated(active) != nullptr) return false;
  for (const Axis& axis : axes) {
    const std::string& name = axis.parameter->name;
    if (point.contains(name) || active.contains(name)) continue;
    if (params[name] != ValueAt(axis.parameter->domain, 0)) return false;
  }
  constexpr int kDraws = 10'000;
  return space.constraints().empty() ||
         Fill(space, std::move(params), seed, TrialId(0), kDraws).has_value();
}

// The cells that a point leaves open. Where nothing must hold between parameters they
// are not listed, only counted.
struct Cells {
  int64_t count = 1;
  std::vector<int64_t> listed;
  int64_t At(int64_t i) const {
    return listed.empty() ? i : listed[static_cast<size_t>(i)];
  }
};

std::optional<Cells> CellsOf(const SearchSpace& space,
                             const SamplerOptions& options,
                             std::span<const Axis> axes,
                             const Params& point) {
  const std::optional<int64_t> all = OpenCells(axes, point);
  if (!all) return std::nullopt;
  Cells cells{*all, {}};
  if (axes.empty() || !IsFiltered(space)) return cells;
  if (*all > kMostFiltered) return std::nullopt;
  for (int64_t cell = 0; cell < *all; ++cell) {
    if (IsOwnCell(space, axes, point, cell, options.seed)) cells.listed.push_back(cell);
  }
  cells.count = std::ssize(cells.listed);
  return cells;
}

class VariantSampler final : public Sampler {
 public:
  VariantSampler(const SearchSpace& space, const SamplerOptions& options)
      : space_(space),
        options_(options),
        count_(CountTrials(space, options).value()),
        axes_(AxesOf(space_, options.kind)) {
    int64_t end = 0;
    for (const Params& point : options_.points_to_evaluate) {
      Params typed = point;
      for (auto& [name, value] : typed) value = Typed(space_.Find(name)->domain, value);
      point_cells_.push_back(CellsOf(space_, options_, axes_, typed).value());
      points_.push_back(std::move(typed));
      end += point_cells_.back().count;
      point_ends_.push_back(end);
    }
    // Nothing asks for the cells of later samples where points take them all; there may
    // be too many to count then.
    cells_ = CellsOf(space_, options_, axes_, {}).value_or(Cells{kMostTrials, {}});
  }
  VariantSampler(const VariantSampler&) = delete;  // axes_ points into space_
  VariantSampler& operator=(const VariantSampler&) = delete;

  std::optional<Params> Suggest(TrialId id, const History&) const override {
    if (id.value() < 0 || id.value() >= count_) return std::nullopt;
    const Place place = Locate(id.value());
    const bool has_point = place.sample < std::ssize(points_);
    const auto sample = static_cast<size_t>(place.sample);
    Params params = has_point ? points_[sample] : Params();
    const Cells& cells = has_point ? point_cells_[sample] : cells_;
    AddCell(axes_, cells.At(place.cell), params);
    const TrialId key = options_.constant_grid_search ? TrialId(place.sample) : id;
    return Fill(space_, std::move(params), options_.seed, key);
  }

  std::optional<int64_t> TrialCount() const override { return count_; }
  bool needs_history() const override { return false; }

 private:
  struct Place {
    int64_t sample;
    int64_t cell;
  };

  int64_t PointsEnd() const { return point_ends_.empty() ? 0 : point_ends_.back(); }

  Place Locate(int64_t trial) const {
    if (trial >= PointsEnd()) {
      const int64_t after = trial - PointsEnd();
      return {std::ssize(point_ends_) + after / cells_.count, after % cells_.count};
    }
    const auto end = std::ranges::upper_bound(point_ends_, trial);
    const int64_t begin = end == point_ends_.begin() ? 0 : *std::prev(end);
    return {end - point_ends_.begin(), trial - begin};
  }

  const SearchSpace space_;
  const SamplerOptions options_;
  const int64_t count_;
  const std::vector<Axis> axes_;     // sorted by name
  std::vector<Params> points_;       // points_to_evaluate in the types of the domains
  std::vector<Cells> point_cells_;   // of each point
  std::vector<int64_t> point_ends_;  // the trial after each point's last
  Cells cells_;                      // of a sample without a point
};

}  // namespace

std::optional<int64_t> GridSize(SamplerKind kind, const Domain& domain) {
  const bool runs_through =
      kind == SamplerKind::kGrid || std::holds_alternative<GridDomain>(domain);
  return runs_through ? Cardinality(domain) : std::nullopt;
}

bool IsFiltered(const SearchSpace& space) {
  return space.is_conditional() || !space.constraints().empty();
}

std::optional<int64_t> CountTrials(const SearchSpace& space,
                                   const SamplerOptions& options) {
  const std::vector<Axis> axes = AxesOf(space, options.kind);
  const auto count_of = [&](const Params& point) -> std::optional<int64_t> {
    const std::optional<Cells> cells = CellsOf(space, options, axes, point);
    return cells ? std::optional(cells->count) : std::nullopt;
  };
  std::optional<int64_t> count = 0;
  for (const Params& point : options.points_to_evaluate) {
    count = Plus(count, count_of(point));
  }
  const int64_t samples = options.num_samples - std::ssize(options.points_to_evaluate);
  assert(samples >= 0);
  if (samples == 0) return count;
  return Plus(count, Times(samples, count_of({})));
}

std::unique_ptr<Sampler> MakeVariantSampler(const SearchSpace& space,
                                            const SamplerOptions& options) {
  return std::make_unique<VariantSampler>(space, options);
}

}  // namespace hyperopt::internal

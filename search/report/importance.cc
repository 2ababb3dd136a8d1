#include "search/report/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace hyperopt {
namespace {

constexpr int kCells = 50;
constexpr double kTopShare = 0.1;
constexpr double kPriorWeight = 1;  // trials' worth of knowing nothing
// A bandwidth no narrower than this many cells: half of one lies within 1.64 sd.
constexpr double kLeastWidth = 0.5 / 1.64;

using Density = std::vector<double>;

// Where a trial is on a parameter's grid; -1 where it is not.
struct Grid {
  int size = 0;
  bool ordered = true;  // false: categories, which have no neighbours
  std::vector<int> cells;
};

Grid GridOf(const Parameter& parameter, std::span<const Params* const> trials) {
  Grid grid;
  const std::optional<int64_t> count = Cardinality(parameter.domain);
  grid.size = count && *count <= kCells ? static_cast<int>(*count) : kCells;
  grid.ordered = !std::holds_alternative<CategoricalDomain>(parameter.domain) &&
                 !std::holds_alternative<GridDomain>(parameter.domain);
  if (!grid.ordered) grid.size = static_cast<int>(count.value_or(kCells));
  for (const Params* params : trials) {
    const auto value = params->find(parameter.name);
    std::optional<double> unit;
    if (value != params->end()) unit = ToUnit(parameter.domain, value->second);
    const int cell = unit ? static_cast<int>(*unit * grid.size) : -1;
    grid.cells.push_back(std::min(cell, grid.size - 1));
  }
  return grid;
}

double Cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Adds `weight` times a normal density that is cut off at the grid's ends.
void AddKernel(double mean, double width, double weight, Density* density) {
  const auto at = [&](double x) { return Cdf((x - mean) / width); };
  const double all = at(static_cast<double>(density->size()) - 0.5) - at(-0.5);
  for (size_t i = 0; i < density->size(); ++i) {
    const double x = static_cast<double>(i);
    (*density)[i] += weight * (at(x + 0.5) - at(x - 0.5)) / all;
  }
}

double Quantile(const std::vector<int>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - std::floor(place)) * (sorted[high] - sorted[low]);
}

// Scott's rule, in cells.
double WidthOf(std::vector<int> cells) {
  std::sort(cells.begin(), cells.end());
  const auto n = static_cast<double>(cells.size());
  const double mean = std::accumulate(cells.begin(), cells.end(), 0.0) / n;
  double square = 0;
  for (int cell : cells) square += (cell - mean) * (cell - mean);
  const double sd = n > 1 ? std::sqrt(square / (n - 1)) : 0;
  const double iqr = Quantile(cells, 0.75) - Quantile(cells, 0.25);
  return std::max(kLeastWidth, 1.059 * std::min(iqr / 1.34, sd) * std::pow(n, -0.2));
}

Density DensityOf(const Grid& grid, const std::vector<int>& cells) {
  std::vector<double> counts(static_cast<size_t>(grid.size));
  for (int cell : cells) counts[static_cast<size_t>(cell)] += 1;
  Density density(counts.size());
  if (!grid.ordered) {
    for (size_t i = 0; i < counts.size(); ++i) {
      density[i] = counts[i] + kPriorWeight / grid.size;
    }
  } else {
    const double width = WidthOf(cells);
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) AddKernel(static_cast<double>(i), width, counts[i], &density);
    }
    AddKernel((grid.size - 1) / 2.0, grid.size, kPriorWeight, &density);
  }
  const double sum = static_cast<double>(cells.size()) + kPriorWeight;
  for (double& d : density) d /= sum;
  return density;
}

// `top[i]`: trial i is one of the best.
double DivergenceOf(const Grid& grid, const std::vector<bool>& top) {
  std::vector<int> all_cells, top_cells;
  for (size_t i = 0; i < grid.cells.size(); ++i) {
    if (grid.cells[i] < 0) continue;
    all_cells.push_back(grid.cells[i]);
    if (top[i]) top_cells.push_back(grid.cells[i]);
  }
  if (top_cells.empty()) return 0;
  const Density p = DensityOf(grid, top_cells), q = DensityOf(grid, all_cells);
  double divergence = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double ratio = p[i] / q[i] - 1;
    divergence += q[i] * ratio * ratio;
  }
  const auto tops = static_cast<double>(std::count(top.begin(), top.end(), true));
  const double a = static_cast<double>(top_cells.size()) / tops;
  const double b =
      static_cast<double>(all_cells.size()) / static_cast<double>(top.size());
  return a * a / b * divergence;
}

// The best tenth, and all that are as good as the last of it.
std::vector<bool> BestOnes(Goal goal, const std::vector<Objective>& values) {
  std::vector<Objective> sorted = values;
  std::sort(sorted.begin(), sorted.end(), [&](const Objective& a, const Objective& b) {
    return Better(goal, a, b);
  });
  const auto count = static_cast<size_t>(
      std::ceil(kTopShare * static_cast<double>(sorted.size()) - 1e-9));
  const Objective cutoff = sorted[std::max<size_t>(count, 1) - 1];
  std::vector<bool> top(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    top[i] = !Better(goal, cutoff, values[i]);
  }
  return top;
}

}  // namespace

Importance ImportanceOf(const SearchSpace& space,
                        Goal goal,
                        std::span<const Params> params,
                        std::span<const Objective> values) {
  assert(params.size() == values.size());
  Importance result;
  std::vector<const Params*> used;
  std::vector<Objective> finite;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!values[i].finite()) continue;
    used.push_back(&params[i]);
    finite.push_back(values[i]);
  }
  result.used = std::ssize(used);
  if (result.used < kLeastTrialsForImportance) {
    result.why = fmt::format("Too few trials have a value: {} of the {} it takes.",
                             result.used,
                             kLeastTrialsForImportance);
    return result;
  }
  const std::vector<bool> top = BestOnes(goal, finite);
  result.top = std::count(top.begin(), top.end(), true);
  double sum = 0;
  for (const Parameter& parameter : space.parameters()) {
    result.shares.push_back(DivergenceOf(GridOf(parameter, used), top));
    sum += result.shares.back();
  }
  if (!(sum > 1e-12)) {
    result.shares.clear();
    result.why = result.top == result.used
                     ? "All trials with a value are equally good."
                     : "No parameter tells the best trials from the others.";
    return result;
  }
  for (double& share : result.shares) share /= sum;
  return result;
}

}  // namespace hyperopt

#include "samplers/internal/encoded.h"

#include <algorithm>
#include <cmath>

namespace hyperopt::internal {
namespace {

constexpr double kLast = 1 - 0x1p-53;

// Cells need not be equally wide (an integer with `log`): each edge is as far from a
// middle as the one before.
std::vector<double> EdgesOf(const Domain& domain, int64_t levels) {
  std::vector<double> edges = {0};
  for (int64_t k = 0; k < levels; ++k) {
    const double middle = ToUnit(domain, ValueAt(domain, k)).value();
    const double next = 2 * middle - edges.back();
    edges.push_back(std::clamp(next, std::nextafter(middle, 2.0), 1.0));
  }
  edges.back() = 1;
  return edges;
}

std::optional<Axis> AxisOf(const Domain& domain, size_t parameter) {
  const std::optional<int64_t> levels = Cardinality(domain);
  Axis axis{.parameter = parameter};
  const bool list = std::holds_alternative<CategoricalDomain>(domain) ||
                    std::holds_alternative<GridDomain>(domain);
  if (levels == 1 || (!list && FromUnit(domain, 0) == FromUnit(domain, kLast))) {
    return std::nullopt;
  }
  if (list) {
    axis.kind = AxisKind::kCategorical;
    axis.levels = *levels;
  } else if (levels && *levels <= kMostLevels) {
    axis.kind = AxisKind::kOrdered;
    axis.levels = *levels;
    axis.edges = EdgesOf(domain, *levels);
  }
  return axis;
}

// The coordinate of one that takes no part.
double RestOf(const Axis& axis) {
  if (axis.kind == AxisKind::kCategorical) return 0;
  return axis.kind == AxisKind::kOrdered ? axis.MiddleOf(axis.levels / 2) : 0.5;
}

// The rank, and less than one for how crowded it is there.
std::vector<double> ByDomination(std::span<const Point> points) {
  const std::vector<int> ranks = ParetoRanks(points);
  const std::vector<double> alone = CrowdingDistances(points, ranks);
  std::vector<double> values;
  for (size_t i = 0; i < points.size(); ++i)
    values.push_back(ranks[i] + 0.9 / (1 + alone[i]));
  return values;
}

std::vector<double> Tchebycheff(std::span<const Point> points,
                                std::span<const double> weights) {
  constexpr double kAugmented = 0.05;
  std::vector<double> values;
  if (points.empty()) return values;
  Point low = points[0], high = points[0];
  for (const Point& point : points) {
    for (size_t i = 0; i < point.size(); ++i) {
      low[i] = std::min(low[i], point[i]);
      high[i] = std::max(high[i], point[i]);
    }
  }
  for (const Point& point : points) {
    double largest = 0, sum = 0;
    for (size_t i = 0; i < point.size(); ++i) {
      const double range = high[i] - low[i];
      // A range may be infinite where the values are finite.
      const double share = range > 0 && std::isfinite(range)
                               ? (point[i] - low[i]) / range
                           : range > 0 ? 0.5 * (point[i] / high[i] + 1)
                                       : 0;
      largest = std::max(largest, weights[i] * share);
      sum += weights[i] * share;
    }
    values.push_back(largest + kAugmented * sum);
  }
  return values;
}

}  // namespace

int64_t Axis::LevelOf(double u) const {
  const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, u);
  return above - edges.begin() - 1;
}

Encoding::Encoding(const SearchSpace& space) : space_(space), cells_(1) {
  for (size_t i = 0; i < space_.size(); ++i) {
    const Domain& domain = space_.parameters()[i].domain;
    const auto axis = AxisOf(domain, i);
    if (!axis) continue;
    axes_.push_back(*axis);
    const std::optional<int64_t> levels = Cardinality(domain);
    int64_t product = 0;
    if (!cells_ || !levels || __builtin_mul_overflow(*cells_, *levels, &product) ||
        product > (int64_t{1} << 62)) {
      cells_ = std::nullopt;
    } else {
      cells_ = product;
    }
  }
}

std::optional<Row> Encoding::ToRow(const Params& params) const {
  Row row;
  row.reserve(axes_.size());
  for (const Axis& axis : axes_) {
    const Parameter& parameter = space_.parameters()[axis.parameter];
    const auto found = params.find(parameter.name);
    if (found == params.end()) {
      if (parameter.when.empty()) return std::nullopt;
      row.push_back(RestOf(axis));
      continue;
    }
    const std::optional<double> u = ToUnit(parameter.domain, found->second);
    if (!u) return std::nullopt;
    if (axis.kind == AxisKind::kCategorical) {
      row.push_back(std::floor(*u * static_cast<double>(axis.levels)));
    } else if (axis.kind == AxisKind::kOrdered) {
      row.push_back(axis.MiddleOf(axis.LevelOf(*u)));
    } else {
      row.push_back(*u);
    }
  }
  return row;
}

Params Encoding::ToParams(std::span<const double> row) const {
  Params params;
  for (const Parameter& parameter : space_.parameters()) {
    params[parameter.name] = FromUnit(parameter.domain, 0);
  }
  for (size_t i = 0; i < axes_.size(); ++i) {
    const Parameter& parameter = space_.parameters()[axes_[i].parameter];
    ParamValue& value = params[parameter.name];
    switch (axes_[i].kind) {
      case AxisKind::kCategorical:
        value = ValueAt(parameter.domain, static_cast<int64_t>(row[i]));
        break;
      case AxisKind::kOrdered:
        value = ValueAt(parameter.domain, axes_[i].LevelOf(row[i]));
        break;
      case AxisKind::kContinuous:
        value = FromUnit(parameter.domain, std::clamp(row[i], 0.0, kLast));
        break;
    }
  }
  return params;
}

bool Encoding::Allows(std::span<const double> row) const {
  if (space_.constraints().empty()) return true;
  return space_.Violated(space_.Active(ToParams(row))) == nullptr;
}

Row Encoding::FromCube(std::span<const double> point) const {
  Row row(axes_.size());
  for (size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    const double u = std::clamp(point[i], 0.0, kLast);
    if (axis.kind == AxisKind::kCategorical) {
      const double level = std::floor(u * static_cast<double>(axis.levels));
      row[i] = std::min(level, static_cast<double>(axis.levels - 1));
    } else if (axis.kind == AxisKind::kOrdered) {
      row[i] = axis.MiddleOf(axis.LevelOf(u));
    } else {
      row[i] = u;
    }
  }
  return row;
}

Params Encoding::CellAt(int64_t cell) const {
  Params params;
  for (const Parameter& parameter : space_.parameters()) {
    const int64_t levels = Cardinality(parameter.domain).value_or(1);
    params[parameter.name] = levels == 1 ? FromUnit(parameter.domain, 0)
                                         : ValueAt(parameter.domain, cell % levels);
    cell /= levels;
  }
  return params;
}

Observations::Key Observations::KeyOf(const HistoryEntry& entry) {
  return {entry.trial, entry.state, entry.objective, entry.step, entry.others};
}

bool Observations::Continues(const History& history) const {
  if (history.ended.size() < keys_.size()) return false;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (!(KeyOf(history.ended[i]) == keys_[i])) return false;
  }
  return keys_.empty() || history.ended[keys_.size() - 1].params == last_params_;
}

Observations::Observations(const Encoding& encoding,
                           Goal goal,
                           std::span<const HistoryEntry> known,
                           std::vector<Goal> other_goals)
    : encoding_(encoding), goal_(goal), other_goals_(std::move(other_goals)) {
  for (const HistoryEntry& entry : known) {
    if (auto seen = ObservationOf(entry)) known_.push_back(*std::move(seen));
  }
  ended_ = known_;
}

void Observations::Add(const HistoryEntry& entry) {
  keys_.push_back(KeyOf(entry));
  last_params_ = entry.params;
  if (auto seen = ObservationOf(entry)) ended_.push_back(*std::move(seen));
}

std::optional<Observation> Observations::ObservationOf(
    const HistoryEntry& entry) const {
  std::optional<Row> row = encoding_.ToRow(entry.params);
  if (!row) return std::nullopt;
  Observation seen{.row = std::move(*row), .step = entry.step};
  const bool all_came = entry.others.size() == other_goals_.size() &&
                        std::ranges::all_of(entry.others, &Objective::finite);
  if (entry.state == TrialState::kFailed || !entry.objective.finite() || !all_came) {
    return seen;
  }
  const auto signed_value = [](Goal goal, double value) {
    return goal == Goal::kMinimize ? value : -value;
  };
  seen.value = signed_value(goal_, entry.objective.value);
  for (size_t i = 0; i < other_goals_.size(); ++i) {
    seen.others.push_back(signed_value(other_goals_[i], entry.others[i].value));
  }
  seen.outcome =
      entry.state == TrialState::kCompleted ? Outcome::kValue : Outcome::kPruned;
  return seen;
}

Observations Observations::AsOne(TrialId id, std::span<const double> weights) const {
  Observations one(*this);
  one.generation_ = -2 - id.value();  // another one for each trial
  std::vector<Point> points;
  std::vector<size_t> places;
  for (size_t i = 0; i < ended_.size(); ++i) {
    if (ended_[i].outcome == Outcome::kFailed) continue;
    points.push_back(ended_[i].others);
    points.back().insert(points.back().begin(), ended_[i].value);
    places.push_back(i);
  }
  const std::vector<double> values =
      weights.empty() ? ByDomination(points) : Tchebycheff(points, weights);
  for (size_t k = 0; k < places.size(); ++k) one.ended_[places[k]].value = values[k];
  return one;
}

void Observations::Update(const History& history) {
  if (!Continues(history)) {
    ++generation_;
    keys_.clear();
    ended_ = known_;
  }
  for (size_t i = keys_.size(); i < history.ended.size(); ++i) Add(history.ended[i]);
  pending_.clear();
  for (const HistoryEntry& entry : history.pending) {
    if (auto row = encoding_.ToRow(entry.params)) pending_.push_back(std::move(*row));
  }
}

}  // namespace hyperopt::internal

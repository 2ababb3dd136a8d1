#include "search/table_search.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "search/recorded_history.h"

namespace hyperopt {
namespace {

double DistanceIn(const Parameter& parameter, const Params& a, const Params& b) {
  const auto x = a.find(parameter.name);
  const auto y = b.find(parameter.name);
  if (x == a.end() || y == b.end()) return (x == a.end()) != (y == b.end()) ? 1 : 0;
  if (x->second == y->second) return 0;
  const bool names = std::holds_alternative<CategoricalDomain>(parameter.domain) ||
                     std::holds_alternative<GridDomain>(parameter.domain);
  if (names) return 1;
  const auto u = ToUnit(parameter.domain, x->second);
  const auto v = ToUnit(parameter.domain, y->second);
  return u && v ? std::abs(*u - *v) : 1;
}

}  // namespace

double DistanceBetween(const SearchSpace& space, const Params& a, const Params& b) {
  double squares = 0, count = 0;
  for (const Parameter& parameter : space.parameters()) {
    const double distance = DistanceIn(parameter, a, b);
    squares += distance * distance;
    ++count;
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

TableSearch::TableSearch(const SearchSpace& space,
                         const SamplerOptions& options,
                         std::vector<Params> table)
    : space_(space),
      sampler_(MakeSampler(space, options)),
      table_(std::move(table)),
      is_taken_(table_.size()),
      number_(table_.size()) {}

std::optional<size_t> TableSearch::Next() {
  if (!more()) return std::nullopt;
  const std::optional<Params> proposal = sampler_->Suggest(TrialId(taken_), history_);
  exhausted_ = !proposal.has_value();
  if (exhausted_) return std::nullopt;
  size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < table_.size(); ++i) {
    if (is_taken_[i]) continue;
    const double distance = DistanceBetween(space_, *proposal, table_[i]);
    if (distance >= least) continue;
    least = distance;
    nearest = i;
  }
  distances_ += least;
  is_taken_[nearest] = true;
  number_[nearest] = taken_;
  history_.pending.push_back({.trial = TrialId(taken_), .params = table_[nearest]});
  ++taken_;
  return nearest;
}

void TableSearch::Told(size_t curve, const SimulatedEnd& end) {
  const TrialId id(number_[curve]);
  std::erase_if(history_.pending,
                [id](const HistoryEntry& entry) { return entry.trial == id; });
  HistoryEntry entry;
  entry.trial = id;
  entry.state = end.state;
  entry.params = table_[curve];
  entry.objective = end.value;
  entry.step = end.time;
  PutNewest(std::move(entry), &history_.ended);
}

double TableSearch::mean_distance() const {
  return taken_ > 0 ? distances_ / static_cast<double>(taken_) : 0;
}

}  // namespace hyperopt

#include "trial/pareto.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

namespace hyperopt {
namespace {

// In this order no point is dominated by a later one.
std::vector<size_t> DominatingFirst(std::span<const Point> points) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, {}, [&](size_t i) -> const Point& { return points[i]; });
  return order;
}

// Adds one objective's gaps to the distances of the points of one rank.
void AddGaps(std::span<const Point> points,
             size_t objective,
             std::vector<size_t> members,
             std::vector<double>* distances) {
  std::ranges::stable_sort(members, {}, [&](size_t i) { return points[i][objective]; });
  const double low = points[members.front()][objective];
  const double range = points[members.back()][objective] - low;
  (*distances)[members.front()] = std::numeric_limits<double>::infinity();
  (*distances)[members.back()] = std::numeric_limits<double>::infinity();
  if (!(range > 0)) return;
  for (size_t k = 1; k + 1 < members.size(); ++k) {
    const double gap =
        points[members[k + 1]][objective] - points[members[k - 1]][objective];
    (*distances)[members[k]] += gap / range;
  }
}

}  // namespace

bool Dominates(const Point& a, const Point& b) {
  assert(a.size() == b.size());
  bool better = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

std::vector<int> ParetoRanks(std::span<const Point> points) {
  std::vector<int> ranks(points.size(), 0);
  std::vector<std::vector<size_t>> fronts;
  for (const size_t i : DominatingFirst(points)) {
    size_t rank = 0;
    const auto is_beaten = [&](size_t other) {
      return Dominates(points[other], points[i]);
    };
    while (rank < fronts.size() && std::ranges::any_of(fronts[rank], is_beaten)) ++rank;
    if (rank == fronts.size()) fronts.emplace_back();
    fronts[rank].push_back(i);
    ranks[i] = static_cast<int>(rank);
  }
  return ranks;
}

std::vector<size_t> ParetoFrontOf(std::span<const Point> points) {
  std::vector<size_t> front;
  for (const size_t i : DominatingFirst(points)) {
    const auto is_beaten = [&](size_t other) {
      return Dominates(points[other], points[i]);
    };
    if (std::ranges::none_of(front, is_beaten)) front.push_back(i);
  }
  std::ranges::sort(front);
  return front;
}

std::vector<double> CrowdingDistances(std::span<const Point> points,
                                      std::span<const int> ranks) {
  assert(points.size() == ranks.size());
  std::vector<double> distances(points.size(), 0);
  std::vector<std::vector<size_t>> fronts;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<size_t>(ranks[i]);
    if (rank >= fronts.size()) fronts.resize(rank + 1);
    fronts[rank].push_back(i);
  }
  for (const std::vector<size_t>& front : fronts) {
    if (front.empty()) continue;
    for (size_t objective = 0; objective < points[front[0]].size(); ++objective) {
      AddGaps(points, objective, front, &distances);
    }
  }
  return distances;
}

}  // namespace hyperopt

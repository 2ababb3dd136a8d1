// Points of several objectives, all to be minimised: which are better than which.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hyperopt {

// One coordinate an objective; finite.
using Point = std::vector<double>;

// `a` is nowhere worse than `b`, and somewhere better.
bool Dominates(const Point& a, const Point& b);

// Of each point its rank: 0 for those that no other dominates (the Pareto front), 1 for
// those that only points of rank 0 dominate, and so on (non-dominated sorting, Deb et
// al. 2002). Equal points have the same rank.
std::vector<int> ParetoRanks(std::span<const Point> points);
// The places of those of rank 0, ascending: much less work where there are many points.
std::vector<size_t> ParetoFrontOf(std::span<const Point> points);

// How alone each point is among those of its rank: the sum over objectives of the gap
// between its neighbours there, as a share of the rank's range; infinite at the ends of
// a range (Deb et al. 2002, crowding distance).
std::vector<double> CrowdingDistances(std::span<const Point> points,
                                      std::span<const int> ranks);

}  // namespace hyperopt

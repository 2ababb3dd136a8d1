#include "samplers/internal/optimise_mixed.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "samplers/internal/minimise.h"
#include "samplers/internal/sobol.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kEven = 1024;
constexpr size_t kAround = 64;  // an anchor
// Where constraints leave little, so many times as many are drawn.
constexpr size_t kMoreEven = 16;
constexpr int kMoreAround = 16;
constexpr size_t kStarts = 6;
constexpr int kRounds = 4;
constexpr int kEvaluations = 24;
constexpr int64_t kAllLevels = 16;
constexpr int kSomeLevels = 8;
constexpr double kScales[] = {0.2, 0.05, 0.01};

using Scored = std::pair<double, Row>;

class Optimiser {
 public:
  Optimiser(const Encoding& encoding,
            const Score& score,
            double effort,
            const InputWarp& warp,
            Rng& rng)
      : encoding_(encoding), score_(score), effort_(effort), warp_(warp), rng_(rng) {
    for (size_t i = 0; i < encoding.size(); ++i) {
      const bool number = encoding.axes()[i].kind == AxisKind::kContinuous;
      (number ? continuous_ : discrete_).push_back(i);
    }
  }

  std::vector<Row> Run(std::span<const Row> anchors) {
    std::vector<Scored> found = Evaluate(Candidates(anchors));
    Sort(found);
    const size_t starts = std::min(Share(kStarts), found.size());
    std::vector<Scored> climbed;
    for (size_t i = 0; i < starts; ++i) climbed.push_back(Climb(found[i]));
    found.insert(found.end(), climbed.begin(), climbed.end());
    Sort(found);
    std::vector<Row> rows;
    for (auto& [value, row] : found) {
      if (rows.empty() || rows.back() != row) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  size_t Share(size_t usual) const {
    return static_cast<size_t>(std::ceil(effort_ * static_cast<double>(usual)));
  }

  static void Sort(std::vector<Scored>& found) {
    std::ranges::stable_sort(
        found, [](const Scored& a, const Scored& b) { return a.first > b.first; });
  }

  std::vector<Scored> Evaluate(std::vector<Row> rows) const {
    const std::vector<double> values = score_.many(rows);
    std::vector<Scored> scored;
    for (size_t i = 0; i < rows.size(); ++i) {
      scored.emplace_back(values[i], std::move(rows[i]));
    }
    return scored;
  }

  std::vector<Row> Candidates(std::span<const Row> anchors) {
    std::vector<Row> rows;
    const uint64_t seed = rng_.Next();
    const size_t even = Share(kEven);
    for (size_t i = 0; i < kMoreEven * even && rows.size() < even; ++i) {
      Row point = SobolPoint(i, encoding_.size(), seed);
      if (i % 2 == 1) point = warp_.Back(point);
      AddAllowed(encoding_.FromCube(point), rows);
    }
    for (const Row& anchor : anchors) {
      for (size_t i = 0; i < Share(kAround); ++i) {
        for (int k = 0; k < kMoreAround; ++k) {
          if (AddAllowed(Near(anchor, kScales[i % std::size(kScales)]), rows)) break;
        }
      }
    }
    if (rows.empty()) {
      rows.push_back(encoding_.FromCube(SobolPoint(0, encoding_.size(), seed)));
    }
    return rows;
  }

  bool AddAllowed(Row row, std::vector<Row>& rows) const {
    if (!encoding_.Allows(row)) return false;
    rows.push_back(std::move(row));
    return true;
  }

  // Some axes moved, one at least.
  Row Near(const Row& row, double scale) {
    Row moved = row;
    const size_t d = row.size();
    const double share = std::min(1.0, 2.0 / static_cast<double>(d));
    const size_t sure = rng_.Below(d);
    const bool all = rng_.Uniform() < 0.33;
    for (size_t i = 0; i < d; ++i) {
      if (i == sure || all || rng_.Uniform() < share) Move(i, scale, moved);
    }
    return moved;
  }

  void Move(size_t i, double scale, Row& row) {
    const Axis& axis = encoding_.axes()[i];
    if (axis.kind == AxisKind::kCategorical) {
      row[i] = static_cast<double>(rng_.Below(static_cast<uint64_t>(axis.levels)));
      return;
    }
    const AxisWarp& warp = warp_.axis(i);
    const double u = warp.Back(
        std::clamp(warp.At(row[i]) + scale * rng_.Normal(), 0.0, 1 - 0x1p-53));
    if (axis.kind == AxisKind::kContinuous) {
      row[i] = u;
      return;
    }
    const int64_t before = axis.LevelOf(row[i]);
    int64_t level = axis.LevelOf(u);
    if (level == before) level += rng_.Below(2) == 0 ? -1 : 1;
    row[i] = axis.MiddleOf(std::clamp<int64_t>(level, 0, axis.levels - 1));
  }

  Scored Climb(Scored at) {
    for (int round = 0; round < kRounds; ++round) {
      const double before = at.first;
      ClimbNumbers(at);
      ClimbLevels(at);
      if (discrete_.empty() || continuous_.empty()) break;
      if (!(at.first > before + 1e-3)) break;
    }
    return at;
  }

  void ClimbNumbers(Scored& at) const {
    const size_t n = continuous_.size();
    if (n == 0) return;
    Row row = at.second;
    std::vector<double> full(row.size());
    const auto f = [&](std::span<const double> x, std::span<double> by_x) {
      for (size_t i = 0; i < n; ++i) {
        row[continuous_[i]] = warp_.axis(continuous_[i]).Back(x[i]);
      }
      const double value = score_.one(row, full);
      for (size_t i = 0; i < n; ++i) {
        const size_t j = continuous_[i];
        by_x[i] = -full[j] / warp_.axis(j).Slope(row[j]);
      }
      // A step that leaves what is allowed is too long.
      return encoding_.Allows(row) ? -value : std::numeric_limits<double>::infinity();
    };
    std::vector<double> start(n);
    for (size_t i = 0; i < n; ++i) {
      start[i] = warp_.axis(continuous_[i]).At(at.second[continuous_[i]]);
    }
    const std::vector<double> low(n, 0.0), high(n, 1 - 0x1p-53);
    const std::vector<double> best =
        Minimise(f, std::move(start), low, high, kEvaluations);
    for (size_t i = 0; i < n; ++i) {
      row[continuous_[i]] = warp_.axis(continuous_[i]).Back(best[i]);
    }
    Take(Evaluate({row}), at);
  }

  void ClimbLevels(Scored& at) {
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Row> rows;
      for (size_t i : discrete_) AddExchanges(i, at.second, rows);
      if (rows.empty() || !Take(Evaluate(std::move(rows)), at)) return;
    }
  }

  // The other levels of an axis: all where they are few, else the next ones and some.
  void AddExchanges(size_t i, const Row& row, std::vector<Row>& rows) {
    const Axis& axis = encoding_.axes()[i];
    const bool ordered = axis.kind == AxisKind::kOrdered;
    const int64_t here = ordered ? axis.LevelOf(row[i]) : static_cast<int64_t>(row[i]);
    std::vector<int64_t> levels;
    if (axis.levels <= kAllLevels) {
      for (int64_t k = 0; k < axis.levels; ++k) levels.push_back(k);
    } else {
      for (int k = 0; k < kSomeLevels; ++k) {
        levels.push_back(
            static_cast<int64_t>(rng_.Below(static_cast<uint64_t>(axis.levels))));
      }
      if (ordered)
        levels.insert(levels.end(), {here - 2, here - 1, here + 1, here + 2});
    }
    for (int64_t level : levels) {
      if (level == here || level < 0 || level >= axis.levels) continue;
      Row other = row;
      other[i] = ordered ? axis.MiddleOf(level) : static_cast<double>(level);
      AddAllowed(std::move(other), rows);
    }
  }

  // Whether one of `found` is better.
  static bool Take(const std::vector<Scored>& found, Scored& at) {
    bool better = false;
    for (const Scored& other : found) {
      if (!(other.first > at.first)) continue;
      at = other;
      better = true;
    }
    return better;
  }

  const Encoding& encoding_;
  const Score& score_;
  const double effort_;
  const InputWarp& warp_;
  Rng& rng_;
  std::vector<size_t> continuous_, discrete_;
};

}  // namespace

std::vector<Row> OptimiseMixed(const Encoding& encoding,
                               const Score& score,
                               std::span<const Row> anchors,
                               double effort,
                               const InputWarp& warp,
                               Rng& rng) {
  if (encoding.size() == 0) return {Row{}};
  return Optimiser(encoding, score, effort, warp, rng).Run(anchors);
}

}  // namespace hyperopt::internal

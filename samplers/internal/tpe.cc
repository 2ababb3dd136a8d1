#include "samplers/internal/tpe.h"

#include <algorithm>
#include <numeric>

#include "samplers/internal/parzen.h"
#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kCandidates = 48;
constexpr size_t kMostDraws = 100 * kCandidates;  // where constraints leave little
constexpr size_t kMostBad = 280;

// Values first, then pruned ones (those that came further first), then failures; among
// equals the older first.
bool Precedes(const Observation& a, const Observation& b) {
  if (a.outcome != b.outcome) return a.outcome < b.outcome;
  if (a.outcome == Outcome::kPruned && a.step != b.step) return a.step > b.step;
  return a.value < b.value;
}

class TpeProposer final : public Proposer {
 public:
  TpeProposer(const Encoding& encoding, uint64_t seed)
      : encoding_(encoding), seed_(seed) {}

  std::vector<Row> Propose(TrialId id, const Observations& seen) const override {
    const auto& ended = seen.ended();
    std::vector<size_t> order(ended.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto better = [&](size_t a, size_t b) {
      if (Precedes(ended[a], ended[b])) return true;
      return !Precedes(ended[b], ended[a]) && a < b;
    };
    const size_t good_count = GoodCount(ended.size());
    const auto middle = order.begin() + static_cast<ptrdiff_t>(good_count);
    std::nth_element(order.begin(), middle, order.end(), better);
    std::sort(order.begin(), middle, better);
    std::vector<Row> best;
    for (auto i = order.begin(); i != middle; ++i) best.push_back(ended[*i].row);
    const ParzenMixture good = MixtureOfGood(encoding_, std::move(best));
    std::vector<bool> is_good(ended.size());
    for (auto i = order.begin(); i != middle; ++i) is_good[*i] = true;
    std::vector<size_t> others;
    for (size_t i = 0; i < ended.size(); ++i) {
      if (!is_good[i]) others.push_back(i);
    }
    const ParzenMixture bad = Bad(ended, others, seen.pending());

    Rng rng(seed_, id, "tpe");
    std::vector<std::pair<double, Row>> scored;
    for (size_t i = 0; i < kMostDraws && scored.size() < kCandidates; ++i) {
      Row row = good.Draw(rng);
      if (!encoding_.Allows(row)) continue;
      const double score = good.LogDensity(row) - bad.LogDensity(row);
      scored.emplace_back(score, std::move(row));
    }
    std::ranges::stable_sort(
        scored, [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Row> rows;
    for (auto& [score, row] : scored) rows.push_back(std::move(row));
    if (rows.empty()) rows.push_back(good.Draw(rng));
    return rows;
  }

 private:
  // Of many the newest half of the places, and an even choice of the older ones, whose
  // weight falls with their age.
  ParzenMixture Bad(const std::vector<Observation>& ended,
                    std::span<const size_t> others,
                    std::span<const Row> pending) const {
    std::vector<Row> rows;
    std::vector<double> weights;
    const size_t n = others.size();
    const size_t recent = std::min(n, kMostBad / 2);
    const size_t old = n - recent;
    const size_t kept = std::min(old, kMostBad - recent);
    for (size_t i = 0; i < kept; ++i) {
      const size_t at = i * old / kept;
      rows.push_back(ended[others[at]].row);
      const double age = static_cast<double>(old - at) / static_cast<double>(n);
      weights.push_back(1 - 0.9 * age);
    }
    for (size_t i = old; i < n; ++i) {
      rows.push_back(ended[others[i]].row);
      weights.push_back(1);
    }
    for (const Row& row : pending) {
      rows.push_back(row);
      weights.push_back(1);
    }
    return ParzenMixture(encoding_, std::move(rows), std::move(weights), 1);
  }

  const Encoding& encoding_;
  const uint64_t seed_;
};

}  // namespace

std::unique_ptr<Proposer> MakeTpeProposer(const Encoding& encoding, uint64_t seed) {
  return std::make_unique<TpeProposer>(encoding, seed);
}

}  // namespace hyperopt::internal

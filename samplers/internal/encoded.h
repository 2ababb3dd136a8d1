// A search space and a sweep's history as numbers for models.
//
// A row has one coordinate for each axis: the place in [0, 1) of a number (the middle
// of its cell where there are few values), the index of a category. Parameters with one
// value only are no axis.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "samplers/sampler.h"
#include "trial/pareto.h"

namespace hyperopt::internal {

using Row = std::vector<double>;

enum class AxisKind { kContinuous, kOrdered, kCategorical };

struct Axis {
  AxisKind kind = AxisKind::kContinuous;
  size_t parameter = 0;       // its place in the space
  int64_t levels = 0;         // 0 where continuous
  std::vector<double> edges;  // kOrdered: level k is [edges[k], edges[k + 1])
  double MiddleOf(int64_t level) const {
    const auto k = static_cast<size_t>(level);
    return 0.5 * (edges[k] + edges[k + 1]);
  }
  int64_t LevelOf(double u) const;
};

// Beyond, an ordered parameter is modelled as a continuous one and rounded at the end.
constexpr int64_t kMostLevels = 128;

class Encoding {
 public:
  explicit Encoding(const SearchSpace& space);

  std::span<const Axis> axes() const { return axes_; }
  size_t size() const { return axes_.size(); }
  // How many different settings there are; nullopt where infinite or over 2^62.
  std::optional<int64_t> cells() const { return cells_; }

  // nullopt where a parameter is absent that has no condition, or a value is none of
  // its domain's. One that takes no part is in the middle, or the first category.
  std::optional<Row> ToRow(const Params& params) const;
  // Every parameter of the space; one that is no axis has its only value.
  Params ToParams(std::span<const double> row) const;
  // From a point of the unit cube [0, 1)^size.
  Row FromCube(std::span<const double> point) const;
  // Whether every constraint of the space holds there. True without any, at no cost.
  bool Allows(std::span<const double> row) const;
  // The setting number `cell` in [0, cells()), the first axis varies fastest.
  Params CellAt(int64_t cell) const;

 private:
  const SearchSpace space_;
  std::vector<Axis> axes_;
  std::optional<int64_t> cells_;
};

enum class Outcome { kValue, kPruned, kFailed };

// An ended trial. `value` is to be minimised, whatever the goal; it is finite, and 0
// where the trial failed or its value is not finite.
struct Observation {
  Row row;
  Outcome outcome = Outcome::kFailed;
  double value = 0;
  int64_t step = 0;
  Point others;  // of several objectives those after the first, to be minimised too
};

// The history as rows. Entries that do not fit the space are left out. What a trial
// that has not ended reported so far is not looked at: a proposal depends on what the
// record tells for certain.
class Observations {
 public:
  // `known` comes before every history.
  // Entries have one more objective for each of `other_goals`.
  Observations(const Encoding& encoding,
               Goal goal,
               std::span<const HistoryEntry> known = {},
               std::vector<Goal> other_goals = {});

  // Reads what is new in `history`, or all of it where it is another one. An ended
  // trial's parameters are taken to be those it had.
  void Update(const History& history);

  const std::vector<Observation>& ended() const { return ended_; }
  const std::vector<Row>& pending() const { return pending_; }
  // Counts the histories that were not a continuation of the one before: while it
  // stays, `ended` only grows.
  int64_t generation() const { return generation_; }

  // Several objectives as one value, for trial `id`. Without weights by non-domination,
  // and among equals by how alone they are; with a weight for each objective by the
  // augmented Tchebycheff norm of the values in their ranges (Knowles 2006).
  Observations AsOne(TrialId id, std::span<const double> weights) const;

 private:
  struct Key {
    TrialId trial;
    TrialState state;
    Objective objective;
    int64_t step;
    std::vector<Objective> others;
    bool operator==(const Key&) const = default;
  };
  static Key KeyOf(const HistoryEntry& entry);
  bool Continues(const History& history) const;
  void Add(const HistoryEntry& entry);
  std::optional<Observation> ObservationOf(const HistoryEntry& entry) const;

  const Encoding& encoding_;
  const Goal goal_;
  const std::vector<Goal> other_goals_;
  std::vector<Observation> known_;
  std::vector<Key> keys_;  // of every entry read
  Params last_params_;     // of the last one
  std::vector<Observation> ended_;
  std::vector<Row> pending_;
  int64_t generation_ = 0;
};

}  // namespace hyperopt::internal

// The ids of the project, one type each: no id passes for another.
#pragma once

#include <compare>
#include <cstdint>

namespace hyperopt {

// A number with a meaning. Ordered and hashable by value, never converted silently.
template <typename Tag, typename Rep>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  Rep value_ = 0;
};

// The number of a trial within its sweep, from 0, in the order of proposal.
using TrialId = Id<struct TrialIdTag, int64_t>;
// A trial's run (fold, repeat), from 0; 0 is the only one of a plain trial.
using RunId = Id<struct RunIdTag, int32_t>;
// Counts the launches of a run, from 1; 0 means never launched.
using Attempt = Id<struct AttemptTag, int32_t>;
// Given by the controller in its welcome, from 1; never used twice in a sweep.
using ExecutorId = Id<struct ExecutorIdTag, int64_t>;

// What a launch, a report and a slot are keyed by.
struct RunKey {
  TrialId trial;
  RunId run;
  Attempt attempt;
  constexpr auto operator<=>(const RunKey&) const = default;
};

}  // namespace hyperopt

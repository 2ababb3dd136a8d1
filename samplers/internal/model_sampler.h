// What the model-based samplers share: points first, an even design to start from, no
// setting twice in a finite space, and an end where all were tried.
#pragma once

#include <memory>
#include <span>

#include "samplers/internal/encoded.h"
#include "samplers/sampler.h"

namespace hyperopt::internal {

// Proposes rows, the best guess first. A function of its arguments: what it memoises
// between calls changes no result.
class Proposer {
 public:
  virtual ~Proposer() = default;
  // Rows of the encoding. Never empty; no coordinate is NaN.
  // REQUIRES: at least one observation with a value.
  virtual std::vector<Row> Propose(TrialId id, const Observations& seen) const = 0;
};

// How many trials of the even design come before a model is asked.
int64_t StartupTrials(const Encoding& encoding);

// How fast trials end: the median of the last ones. kSlow where it is not known.
enum class Pace { kSlow, kQuick, kInstant };
Pace PaceOf(const History& history);

// kAuto asks Gaussian processes for the trials before `gp_until`, then TPE. A rule by
// trial, so that more samples later change none of those before. A proposal is to cost
// less than the trial: quick ones are TPE's from the start, and instant ones, of which
// there will be many, are spread evenly and asked of no model.
struct AutoRule {
  int64_t gp_until = 0;
};
AutoRule RuleOfAuto(const Encoding& encoding);

// kTpe, kGp, kCmaes, kSobol or kAuto.
// REQUIRES: ProblemsWith(space, options) is empty.
std::unique_ptr<Sampler> MakeModelSampler(const SearchSpace& space,
                                          const SamplerOptions& options);

}  // namespace hyperopt::internal

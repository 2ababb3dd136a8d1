// A sampler proposes the parameters of a trial.
//
// A proposal is a function of (options, trial number, history): there is nothing to
// save and nothing to restore, and a sweep that was killed proposes what its record
// demands. A sampler may memoise what it derives from a history; a test holds a
// long-lived sampler against a fresh one, bit for bit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trial/ids.h"
#include "trial/objective.h"
#include "trial/param_value.h"
#include "trial/space.h"
#include "trial/state.h"

namespace hyperopt {

// The number of a result that was given with the search.
inline constexpr TrialId kEvaluated(-1);
// That of another search's trial.
inline constexpr TrialId kWarm(-2);

// One earlier trial, as a sampler sees it.
struct HistoryEntry {
  TrialId trial;
  TrialState state = TrialState::kPending;
  Params params;
  Objective objective;  // best (or last) value so far; missing where none came
  int64_t step = 0;     // the step it was reached at
  double seconds = 0;   // that it ran, over all attempts; 0 where that is not known
  // Of several objectives those after the first, as SamplerOptions::other_goals.
  std::vector<Objective> others;
};

// Ended trials in the order in which their ends were committed, then those not ended,
// by id.
struct History {
  std::vector<HistoryEntry> ended;
  std::vector<HistoryEntry> pending;
};

enum class SamplerKind { kRandom, kGrid, kList, kSobol, kTpe, kGp, kCmaes, kAuto };

struct SamplerOptions {
  // kRandom: Ludwig's variant_generator: grid_search parameters run through all their
  // cells, the others are drawn anew for each cell. kGrid: every parameter is a grid;
  // all must be finite. kList: trial i is row i. kSobol fills the space evenly. kTpe
  // and kGp model the history, kCmaes follows it (numbers alone); kAuto is the one of
  // them that suits budget and space. These four take grid_search parameters as
  // categories.
  SamplerKind kind = SamplerKind::kRandom;
  // What the objectives in the history are to be.
  Goal goal = Goal::kMinimize;
  // Of several objectives those after the first. kTpe and kCmaes then rank trials by
  // non-domination and how alone they are; kGp takes the greatest expected gain of the
  // volume that the front dominates, and weighs the objectives anew for every second
  // trial of three, for each of four (ParEGO, Knowles 2006). A trial without a finite
  // value of each counts as failed.
  std::vector<Goal> other_goals;
  uint64_t seed = 42;
  // Each sample is one draw of the random parameters for every cell of the grid.
  int64_t num_samples = 10;
  // Come first; each takes one of num_samples (times the grid cells it leaves open). A
  // parameter that a point does not name is drawn (or run through, where it is a grid).
  std::vector<Params> points_to_evaluate;
  // Results from elsewhere: what the model-based ones know before their first trial, as
  // if it had ended before all others. Entries that do not fit the space are left out.
  std::vector<HistoryEntry> known;
  // The random parameters of a sample keep their values in all its grid cells.
  bool constant_grid_search = false;
  // kList: the settings of each trial; what a row leaves open is drawn. There are as
  // many trials as rows, and no more than num_samples.
  std::vector<Params> rows;
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // The parameters of trial `id`, all of the space named; nullopt where there is no
  // such trial (count or finite space exhausted). Thread-compatible: calls on one
  // object are not made at the same time.
  virtual std::optional<Params> Suggest(TrialId id, const History& history) const = 0;
  // How many trials there will be; nullopt where that depends on history.
  virtual std::optional<int64_t> TrialCount() const = 0;
  // False where Suggest never reads its history, so that none need be built.
  virtual bool needs_history() const = 0;
};

// Why options and space do not go together, one line a problem: a grid over a
// continuous parameter, a point outside its space or of an unknown parameter, more
// points than samples, more than 2^31 trials, a list without rows. Empty where
// MakeSampler takes them.
std::vector<std::string> ProblemsWith(const SearchSpace& space,
                                      const SamplerOptions& options);

// Throws ConfigError with all problems. Keeps copies of both.
//
// Order of grid and random: points first, then sample after sample; within a sample all
// grid cells, parameters sorted by name, the first one varies fastest (Ludwig's order).
// A random value depends on (seed, trial number, its parameter's name) alone, with
// constant_grid_search on (seed, sample number, name): another parameter more or less
// changes no value of the others.
//
// kSobol, kTpe, kGp, kCmaes and kAuto propose each of num_samples trials once, points
// first, and in a finite space no setting twice while another is left: Suggest gives
// nullopt once none is, but for kAuto, which then draws at random. They take a trial's
// parameters never to change within a history, and do not read what a trial that has
// not ended has reported so far.
std::unique_ptr<Sampler> MakeSampler(const SearchSpace& space,
                                     const SamplerOptions& options);

// How kAuto chooses in this space, for a person: "auto: gp, from trial 300 on tpe".
std::string DescribeAuto(const SearchSpace& space);

}  // namespace hyperopt

// What a person asks of a sweep from another shell: more trials, fewer, other limits.
// A controller that lives does it at once; where none does, the same code does it to
// the record, and the next start finds it done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "search/config.h"
#include "trial/ids.h"
#include "trial/param_value.h"

namespace hyperopt {

// Settings to run. A parameter that one does not name is drawn.
struct AddTrials {
  std::vector<Params> params;
  // Where each was written, for what is said of it: "runs.csv:3". Empty, or one each.
  std::vector<std::string> places;
};
// So many samples more, as `resume --trials +N`.
struct AddSamples {
  int64_t samples = 0;
};
// For good: stopped, reason user. Those that are finished stay as they are.
struct StopTrials {
  std::vector<TrialId> trials;
};
// Nothing new starts; what runs goes on.
struct SetPaused {
  bool paused = true;
};
// Other limits. `executor` and `num_samples` hold all of them, changed and unchanged.
struct SetLimits {
  ExecutorOptions executor;
  int64_t num_samples = 0;
  bool samples_changed = false;    // forgets what AddSamples added
  std::optional<int64_t> gpus;     // at most so many; nullopt: all there are
  std::string live_set;            // for kLiveSet
  std::vector<std::string> lines;  // "max_concurrent_trials: 2 -> 1"
};

struct ChangeRequest {
  // Random, chosen by who asks: the same token is never done twice, also by another
  // life of the controller.
  std::string token;
  std::variant<AddTrials, AddSamples, StopTrials, SetPaused, SetLimits> what;
};

// Checks one of AddTrials against the space: throws ConfigError for a name that the
// search does not have, a value of the wrong type and a constraint that does not hold
// whatever is drawn beside. A whole number is taken where a
// fraction is asked for and the other way round. What lies outside its range is allowed
// and gets a line in `notes`.
Params CheckGiven(const SearchSpace& space,
                  const Params& given,
                  std::vector<std::string>* notes);
// Draws what `given` does not name, so that the constraints hold and all that is given
// takes part, and leaves out what takes none. Throws ConfigError where no draw is
// found.
Params FillGiven(const SearchSpace& space, Params given, uint64_t seed, TrialId id);
// All parameters are there: a trial can be run.
bool NamesAll(const SearchSpace& space, const Params& params);
// They alone, and within their ranges: a sampler can learn from it.
bool LiesWithin(const SearchSpace& space, const Params& params);

}  // namespace hyperopt

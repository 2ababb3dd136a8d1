// What a search has learnt, for people to look at: the metric that a Gaussian process
// takes settings to have that nobody tried. Samplers do not use it; it is their model
// and their encoding, fitted once on all that has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trial/objective.h"
#include "trial/param_value.h"
#include "trial/space.h"

namespace hyperopt {

// In the metric's own units, finite. The mean of many trials with these settings is
// thought to lie in low .. high with 68 % (one standard deviation either way).
struct Estimate {
  double middle = 0, low = 0, high = 0;
};

// A parameter that is varied: its place in the space, and values of its domain.
struct Variation {
  size_t parameter = 0;
  std::vector<ParamValue> values;
};

// Fewer say nothing.
inline constexpr int64_t kLeastTrialsForSurrogate = 10;

class Surrogate {
 public:
  // `params` and `values` are of the same trials. Those whose value is not finite, or
  // that do not fit the space, are left out; of many the best and an even sample of the
  // others are taken (`used`). The same trials give the same model: nothing is drawn.
  //
  // Values are told apart as gp does (README.md of this folder): one of 1e300 spoils
  // nothing, and nothing is predicted to be worse than the worst that counts. Better
  // than the best is possible, but of values of one sign all estimates have it too.
  Surrogate(const SearchSpace& space,
            Goal goal,
            std::span<const Params> params,
            std::span<const Objective> values);
  ~Surrogate();
  Surrogate(Surrogate&&) noexcept;
  Surrogate& operator=(Surrogate&&) noexcept;

  // Why nothing can be said; empty where the functions below may be called.
  const std::string& why() const { return why_; }
  int64_t used() const { return used_; }      // trials that the model knows
  int64_t usable() const { return usable_; }  // of so many

  // Whether the parameter can make a difference: it has more than one value.
  bool Knows(size_t parameter) const;

  // At the settings `at` with each combination of the varied values in place of its
  // own; those of the first Variation change fastest. One that `at` does not have is
  // added. Empty where `at` does not fit the space.
  // REQUIRES: Knows(parameter) of each varied one.
  std::vector<Estimate> Around(const Params& at,
                               std::span<const Variation> varied) const;
  // Only the middles, which are much cheaper.
  std::vector<double> Middles(const Params& at,
                              std::span<const Variation> varied) const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
  std::string why_;
  int64_t used_ = 0, usable_ = 0;
};

}  // namespace hyperopt

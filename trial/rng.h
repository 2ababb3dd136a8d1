// Random numbers keyed by what they decide, so that nothing is saved and nothing
// restored: the same (seed, trial, stream) gives the same draws in every process, for
// ever.
#pragma once

#include <cstdint>
#include <string_view>

#include "trial/ids.h"

namespace hyperopt {

// xoshiro256++ (Blackman, Vigna 2019) seeded by SplitMix64 over the key. The std
// distributions differ between libraries; these do not.
class Rng {
 public:
  // `stream` tells draws of one trial apart: a parameter's name, a purpose.
  Rng(uint64_t seed, TrialId trial, std::string_view stream);

  uint64_t Next();
  // In [0, 1), 53 bits.
  double Uniform();
  // In [0, n), without bias; n > 0.
  uint64_t Below(uint64_t n);
  // Standard normal, by inversion.
  double Normal();

 private:
  uint64_t state_[4];
};

// FNV-1a, 64 bit.
uint64_t HashText(std::string_view text);

// Inverse of the standard normal's distribution function for p in (0, 1), to the last
// few digits (Wichura 1988, AS 241). 0 and 1 give -inf and +inf.
double NormalQuantile(double p);
double NormalCdf(double x);

}  // namespace hyperopt

#include "trial/rng.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <span>

namespace hyperopt {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

// SplitMix64 (Steele, Lea, Flood 2014): a bijection that spreads each bit over all.
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t RotateLeft(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

// c[0] + c[1] x + c[2] x^2 + ...
double Polynomial(std::span<const double> c, double x) {
  double sum = 0;
  for (size_t i = c.size(); i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// The rational approximations of AS 241, PPND16: one for the middle, two for the tails.
constexpr double kMiddleTop[] = {3.3871328727963666080e0,
                                 1.3314166789178437745e2,
                                 1.9715909503065514427e3,
                                 1.3731693765509461125e4,
                                 4.5921953931549871457e4,
                                 6.7265770927008700853e4,
                                 3.3430575583588128105e4,
                                 2.5090809287301226727e3};
constexpr double kMiddleBottom[] = {1.0,
                                    4.2313330701600911252e1,
                                    6.8718700749205790830e2,
                                    5.3941960214247511077e3,
                                    2.1213794301586595867e4,
                                    3.9307895800092710610e4,
                                    2.8729085735721942674e4,
                                    5.2264952788528545610e3};
constexpr double kTailTop[] = {1.42343711074968357734e0,
                               4.63033784615654529590e0,
                               5.76949722146069140550e0,
                               3.64784832476320460504e0,
                               1.27045825245236838258e0,
                               2.41780725177450611770e-1,
                               2.27238449892691845833e-2,
                               7.74545014278341407640e-4};
constexpr double kTailBottom[] = {1.0,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
constexpr double kFarTop[] = {6.65790464350110377720e0,
                              5.46378491116411436990e0,
                              1.78482653991729133580e0,
                              2.96560571828504891230e-1,
                              2.65321895265761230930e-2,
                              1.24266094738807843860e-3,
                              2.71155556874348757815e-5,
                              2.01033439929228813265e-7};
constexpr double kFarBottom[] = {1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};

}  // namespace

Rng::Rng(uint64_t seed, TrialId trial, std::string_view stream) {
  uint64_t key = Mix(seed + kGolden);
  key = Mix((key ^ static_cast<uint64_t>(trial.value())) + kGolden);
  key = Mix((key ^ HashText(stream)) + kGolden);
  // Mix maps only one number to 0, so the state is never all zero.
  for (uint64_t& word : state_) {
    key += kGolden;
    word = Mix(key);
  }
}

uint64_t Rng::Next() {
  const uint64_t result = RotateLeft(state_[0] + state_[3], 23) + state_[0];
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = RotateLeft(state_[3], 45);
  return result;
}

double Rng::Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

uint64_t Rng::Below(uint64_t n) {
  assert(n > 0);
  // 2^64 mod n: without so many numbers, each remainder comes equally often.
  const uint64_t surplus = (0 - n) % n;
  uint64_t x = Next();
  while (x < surplus) x = Next();
  return x % n;
}

double Rng::Normal() {
  // 52 bits and a half: never 0, never 1, symmetric.
  return NormalQuantile((static_cast<double>(Next() >> 12) + 0.5) * 0x1p-52);
}

uint64_t HashText(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

double NormalQuantile(double p) {
  assert(p >= 0 && p <= 1);
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * Polynomial(kMiddleTop, r) / Polynomial(kMiddleBottom, r);
  }
  const double tail = q < 0 ? p : 1 - p;
  if (tail <= 0) return std::copysign(std::numeric_limits<double>::infinity(), q);
  const double r = std::sqrt(-std::log(tail));
  const double x =
      r <= 5 ? Polynomial(kTailTop, r - 1.6) / Polynomial(kTailBottom, r - 1.6)
             : Polynomial(kFarTop, r - 5) / Polynomial(kFarBottom, r - 5);
  return std::copysign(x, q);
}

double NormalCdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }

}  // namespace hyperopt

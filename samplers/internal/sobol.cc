#include "samplers/internal/sobol.h"

#include <array>
#include <bit>

namespace hyperopt::internal {
namespace {

// A primitive polynomial of `degree` whose inner coefficients are the bits of `inner`,
// and the first direction numbers: new-joe-kuo-6.21201, dimensions 2 to 21.
struct Direction {
  uint32_t degree, inner;
  std::array<uint32_t, 7> first;
};
constexpr Direction kDirections[] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};
constexpr size_t kTabled = std::size(kDirections) + 1;

using Matrix = std::array<uint32_t, 32>;

constexpr Matrix MatrixOf(size_t dimension) {
  Matrix v{};
  if (dimension == 0) {
    for (uint32_t i = 0; i < 32; ++i) v[i] = uint32_t{1} << (31 - i);
    return v;
  }
  const Direction& d = kDirections[dimension - 1];
  for (uint32_t i = 0; i < 32; ++i) {
    if (i < d.degree) {
      v[i] = d.first[i] << (31 - i);
      continue;
    }
    v[i] = v[i - d.degree] ^ (v[i - d.degree] >> d.degree);
    for (uint32_t k = 1; k < d.degree; ++k) {
      if ((d.inner >> (d.degree - 1 - k)) & 1) v[i] ^= v[i - k];
    }
  }
  return v;
}

constexpr std::array<Matrix, kTabled> AllMatrices() {
  std::array<Matrix, kTabled> all{};
  for (size_t i = 0; i < kTabled; ++i) all[i] = MatrixOf(i);
  return all;
}
constexpr std::array<Matrix, kTabled> kMatrices = AllMatrices();

uint32_t ReverseBits(uint32_t x) {
  x = ((x >> 1) & 0x55555555) | ((x & 0x55555555) << 1);
  x = ((x >> 2) & 0x33333333) | ((x & 0x33333333) << 2);
  x = ((x >> 4) & 0x0f0f0f0f) | ((x & 0x0f0f0f0f) << 4);
  return __builtin_bswap32(x);
}

uint32_t Scramble(uint32_t x, uint32_t seed) {
  x = ReverseBits(x);
  x ^= x * 0x3d20adea;
  x += seed;
  x *= (seed >> 16) | 1;
  x ^= x * 0x05526c56;
  x ^= x * 0x53a22864;
  return ReverseBits(x);
}

uint64_t Mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint32_t Unscrambled(uint32_t index, size_t dimension) {
  uint32_t x = 0;
  for (; index != 0; index &= index - 1) {
    x ^= kMatrices[dimension][static_cast<size_t>(std::countr_zero(index))];
  }
  return x;
}

}  // namespace

std::vector<double> SobolPoint(uint64_t index, size_t dimensions, uint64_t seed) {
  std::vector<double> point(dimensions);
  for (size_t i = 0; i < dimensions; ++i) {
    const size_t block = i / kTabled;
    auto at = static_cast<uint32_t>(index);
    if (block > 0) {
      const uint64_t key = Mix(seed ^ (0x5b0c0000 + block));
      at = Scramble(at, static_cast<uint32_t>(key));
    }
    const uint64_t key = Mix(Mix(seed) + i);
    const uint32_t x =
        Scramble(Unscrambled(at, i % kTabled), static_cast<uint32_t>(key));
    // The low bits are those of another hash, so that rounding meets no lattice.
    const uint64_t low = Mix(key + x) >> 43;
    point[i] = (static_cast<double>(x) * 0x1p21 + static_cast<double>(low)) * 0x1p-53;
  }
  return point;
}

}  // namespace hyperopt::internal

// A scrambled Sobol sequence: points that fill the unit cube evenly from the first on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hyperopt::internal {

// Point `index` (32 bits of it are used) of the sequence of `seed`, in [0,
// 1)^dimensions. Direction numbers of Joe and Kuo (2008) for 21 dimensions, Owen's
// scrambling by hashing (Laine, Karras 2011; Burley 2020); further dimensions are the
// same 21 with the order of the points shuffled, each block of 2^k points still an even
// one.
std::vector<double> SobolPoint(uint64_t index, size_t dimensions, uint64_t seed);

}  // namespace hyperopt::internal

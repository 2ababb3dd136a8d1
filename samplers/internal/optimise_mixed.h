// Finds rows with a high score in a space of numbers, levels and categories.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "samplers/internal/encoded.h"
#include "samplers/internal/input_warp.h"
#include "trial/rng.h"

namespace hyperopt::internal {

struct Score {
  // Of many rows at once.
  std::function<std::vector<double>(std::span<const Row>)> many;
  // Of one, with its gradient; entries of axes that are not continuous are not read.
  std::function<double(const Row&, std::vector<double>& gradient)> one;
};

// Rows with their scores, the best first, all different. `anchors` are rows to look
// around, the most promising first. `effort` in (0, 1] is the share of the usual
// candidates that are scored. Never empty where the space has an axis. All satisfy the
// space's constraints, but for one row where none that does was found. Half of the
// candidates, and every step, are even where `warp` is, whose bends the score follows.
std::vector<Row> OptimiseMixed(const Encoding& encoding,
                               const Score& score,
                               std::span<const Row> anchors,
                               double effort,
                               const InputWarp& warp,
                               Rng& rng);

}  // namespace hyperopt::internal

// Grid and random in one: every sample runs through all cells of the grid, and what is
// no grid is drawn. A space without a grid has one cell, a space of grids only draws
// nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "samplers/sampler.h"

namespace hyperopt::internal {

constexpr int64_t kMostTrials = int64_t{1} << 31;

// How many values of the domain are run through; nullopt where it is drawn from.
std::optional<int64_t> GridSize(SamplerKind kind, const Domain& domain);

// Whether something must hold between parameters: then a grid's cells are listed, of
// which there may be so many.
bool IsFiltered(const SearchSpace& space);
constexpr int64_t kMostFiltered = int64_t{1} << 17;

// The exact number of trials; nullopt where it is over kMostTrials, or a grid has more
// than kMostFiltered cells that would have to be listed.
// REQUIRES: not more points than samples.
std::optional<int64_t> CountTrials(const SearchSpace& space,
                                   const SamplerOptions& options);

// REQUIRES: ProblemsWith(space, options) is empty.
std::unique_ptr<Sampler> MakeVariantSampler(const SearchSpace& space,
                                            const SamplerOptions& options);

}  // namespace hyperopt::internal

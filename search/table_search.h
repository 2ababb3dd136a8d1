// A sampler that can have none but recorded trials: each proposal is answered with the
// nearest one that is left.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "samplers/sampler.h"
#include "search/simulate.h"

namespace hyperopt {

// Between 0, the same, and 1: the root of the mean square over the parameters of how
// far apart their values lie in their range (log where that is), and of two that are
// not alike, or of which one alone takes part, 1.
double DistanceBetween(const SearchSpace& space, const Params& a, const Params& b);

// Thread-compatible. The sampler learns what the taken trial came to, and its own
// parameters, not those that it proposed.
class TableSearch final : public StartOrder {
 public:
  // `table`: parameters of the curves, by their place. `space` must outlive it.
  TableSearch(const SearchSpace& space,
              const SamplerOptions& options,
              std::vector<Params> table);

  bool more() const override { return taken_ < std::ssize(table_) && !exhausted_; }
  std::optional<size_t> Next() override;
  void Told(size_t curve, const SimulatedEnd& end) override;

  // How far the trials that were taken lie from what was proposed, in the mean.
  double mean_distance() const;

 private:
  const SearchSpace& space_;
  const std::unique_ptr<Sampler> sampler_;
  const std::vector<Params> table_;
  std::vector<bool> is_taken_;
  std::vector<int64_t> number_;  // of the proposal that took it
  int64_t taken_ = 0;
  bool exhausted_ = false;
  double distances_ = 0;
  History history_;
};

}  // namespace hyperopt

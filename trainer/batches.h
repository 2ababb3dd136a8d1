// Which rows each rank takes in each step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hyperopt {

// Cuts an order of rows into global batches of ranks x batch_size rows, each dealt out
// to the ranks in turn (row i of a batch goes to rank i mod ranks). So every row is
// taken once, by one rank; all ranks make the same number of steps; and the rows of a
// step are those that one rank with batch ranks x batch_size takes. The last batch may
// be short, and a rank's part of it empty.
class BatchPlan {
 public:
  // `order` must outlive the plan. REQUIRES: 0 <= rank < ranks, batch_size > 0.
  BatchPlan(std::span<const int64_t> order, int64_t batch_size, int rank, int ranks);

  int64_t steps() const;
  // Rows of the step over all ranks.
  int64_t GlobalRows(int64_t step) const;
  // The rows of this rank.
  std::vector<int64_t> Rows(int64_t step) const;

 private:
  std::span<const int64_t> order_;
  int64_t global_batch_;
  int rank_;
  int ranks_;
};

// `batch_size: auto`: the largest power of two that is at most 128 and at most a fifth
// of the training rows over all ranks; at least 1.
int64_t AutoBatchSize(int64_t train_rows, int ranks);

}  // namespace hyperopt

#include "trainer/batches.h"

#include <algorithm>
#include <cassert>

namespace hyperopt {

BatchPlan::BatchPlan(std::span<const int64_t> order,
                     int64_t batch_size,
                     int rank,
                     int ranks)
    : order_(order), global_batch_(batch_size * ranks), rank_(rank), ranks_(ranks) {
  assert(batch_size > 0 && rank >= 0 && rank < ranks);
}

int64_t BatchPlan::steps() const {
  const auto rows = static_cast<int64_t>(order_.size());
  return (rows + global_batch_ - 1) / global_batch_;
}

int64_t BatchPlan::GlobalRows(int64_t step) const {
  const auto rows = static_cast<int64_t>(order_.size());
  return std::min(global_batch_, rows - step * global_batch_);
}

std::vector<int64_t> BatchPlan::Rows(int64_t step) const {
  const auto batch = order_.subspan(step * global_batch_, GlobalRows(step));
  std::vector<int64_t> rows;
  for (size_t i = rank_; i < batch.size(); i += ranks_) rows.push_back(batch[i]);
  return rows;
}

int64_t AutoBatchSize(int64_t train_rows, int ranks) {
  const int64_t limit = std::min<int64_t>(128, train_rows / 5 / ranks);
  int64_t size = 1;
  while (size * 2 <= limit) size *= 2;
  return size;
}

}  // namespace hyperopt

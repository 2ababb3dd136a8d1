// One trial's training as an object: what Train() drives.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trainer/internal/model.h"
#include "trainer/internal/strategy.h"
#include "trainer/internal/weights.h"
#include "trainer/metrics.h"
#include "trainer/train.h"

namespace hyperopt {

class Loop {
 public:
  // Builds the model on the strategy's device, resumes where the job says so, and
  // attaches it. `job` and `strategy` must outlive the loop.
  Loop(const TrainJob& job, Strategy& strategy);

  TrainEnd Run();

 private:
  // nullopt where a stop was asked for in the middle.
  std::optional<std::vector<Predictions>> TrainEpoch(int64_t epoch);
  std::optional<std::vector<Predictions>> Evaluate(std::span<const int64_t> rows);
  std::optional<ReportFields> RunEpoch(int64_t epoch);

  void TrainStep(const std::vector<int64_t>& rows,
                 int64_t global_rows,
                 class PredictionCollector& collector);
  torch::Tensor Rows(const torch::Tensor& matrix,
                     const std::vector<int64_t>& rows) const;
  void NoteProgress(const ReportFields& fields);
  void Resume();
  void Checkpoint();
  void Note(const std::string& line) const;

  const TrainJob& job_;
  Strategy& strategy_;
  int64_t batch_size_;
  int64_t eval_batch_size_;
  double learning_rate_;
  std::shared_ptr<Model> model_;
  std::vector<torch::Tensor> parameters_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  torch::Tensor inputs_;   // [rows, inputs]
  torch::Tensor targets_;  // [rows, outputs]
  LoopState state_;
};

}  // namespace hyperopt

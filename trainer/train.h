// The training loop. This header needs no LibTorch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/dataset.h"
#include "trainer/model_config.h"
#include "trainer/reporter.h"

namespace hyperopt {

// A process's place among the ranks of a trial, in torchrun's words.
struct RankSpec {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  // Of rank 0. Where distributed is false they are not looked at.
  std::string master_addr = "127.0.0.1";
  int master_port = 29500;
  // Also one rank joins a process group, where it was started as rank 0 of 1.
  bool distributed = false;
  // How long the ranks wait for each other at the start.
  std::chrono::seconds join_timeout{120};
};

struct TrainJob {
  ModelConfig config;
  const Dataset& data;
  RankSpec rank;
  uint64_t seed = 42;
  // Epochs to reach, where the search sets fewer than the config.
  std::optional<int64_t> budget;
  std::optional<std::filesystem::path> checkpoint_dir;  // none: no checkpoints
  std::optional<std::filesystem::path> resume_from;     // a complete checkpoint
  // Names the trial, so that a checkpoint cloned from another one is told apart.
  std::string trial;
  // Set from a signal handler; looked at before each step, by all ranks together.
  const std::atomic<bool>& stop;
  // Called on rank 0 after the checkpoint of the epoch is complete.
  std::function<void(int64_t step, const ReportFields& fields)> on_epoch;
  // Facts worth a line, on rank 0.
  std::function<void(const std::string& line)> on_note;
};

enum class TrainEnd {
  kEpochsDone,
  kBudgetReached,
  kEarlyStopped,
  kStopRequested,
  kDiverged,  // the training loss of the last reported epoch is not finite
};

// Trains until one of the ends. Deterministic: on one rank the same job reports the
// same fields, bit for bit, also when it was stopped and resumed on the way (with the
// same number of OMP threads on the same kind of CPU); N ranks with batch B take the
// steps of one rank with batch N x B up to rounding, unless layers use dropout or batch
// norm. Throws EnvironmentError where ranks do not find each other or one is lost, and
// where a checkpoint can not be written or does not load.
TrainEnd Train(const TrainJob& job);

// All parameters and buffers of a checkpoint, flattened, in the model's order.
std::vector<float> ReadCheckpointWeights(const std::filesystem::path& checkpoint);

}  // namespace hyperopt
